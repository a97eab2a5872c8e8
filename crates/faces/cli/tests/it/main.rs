//! The binary as its users meet it: real homes, real servers on loopback, real files.
#![forbid(unsafe_code)]

#[cfg(test)]
mod admin;
#[cfg(test)]
mod admin_backup;
#[cfg(test)]
mod admin_keys;
#[cfg(test)]
mod admin_seed_service;
#[cfg(test)]
mod admin_token;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod bench_baseline;
#[cfg(test)]
mod bench_demo;
#[cfg(test)]
mod bench_flags;
#[cfg(test)]
mod bench_history;
#[cfg(test)]
mod bench_lists;
#[cfg(test)]
mod bench_outputs;
#[cfg(test)]
mod bench_verdicts;
#[cfg(test)]
mod bench_words;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod client;
#[cfg(test)]
mod client_tokens;
#[cfg(test)]
mod client_uses;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod curl;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod dialect;
#[cfg(test)]
mod dispatch;
#[cfg(test)]
mod format;
#[cfg(test)]
mod fpe;
#[cfg(test)]
mod hd;
#[cfg(test)]
mod hd_memory;
#[cfg(test)]
mod hd_shares;
#[cfg(test)]
mod hd_vault;
#[cfg(test)]
mod hsm;
#[cfg(test)]
mod hsm_across;
#[cfg(test)]
mod hsm_benchmark;
#[cfg(test)]
mod hsm_benchmark_faults;
#[cfg(test)]
mod hsm_benchmark_script;
#[cfg(test)]
mod hsm_calls;
#[cfg(test)]
mod hsm_ciphers;
#[cfg(test)]
mod hsm_docs;
#[cfg(test)]
mod hsm_hostile;
#[cfg(test)]
mod hsm_keys;
#[cfg(test)]
mod hsm_look;
#[cfg(test)]
mod hsm_menu;
#[cfg(test)]
mod hsm_more;
#[cfg(test)]
mod hsm_places;
#[cfg(test)]
mod hsm_postquantum;
#[cfg(test)]
mod hsm_refusals;
#[cfg(test)]
mod hsm_requests;
#[cfg(test)]
mod hsm_rsa;
#[cfg(test)]
mod hsm_schemas;
#[cfg(test)]
mod hsm_schemes;
#[cfg(test)]
mod hsm_screens;
#[cfg(test)]
mod hsm_signals;
#[cfg(test)]
mod hsm_table;
#[cfg(test)]
mod hsm_terminal;
#[cfg(test)]
mod hsm_tokens_page;
#[cfg(test)]
mod hsm_uris;
#[cfg(test)]
mod hsm_values;
#[cfg(test)]
mod hsm_work;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod program;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod seal;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod session;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod token;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod vectors_families;
#[cfg(test)]
mod vectors_trees;
