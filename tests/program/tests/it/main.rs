//! The whole program, one promise per module: the real node behind real TLS on real files.
#![forbid(unsafe_code)]

#[cfg(test)]
mod abuse;
#[cfg(test)]
mod alerts;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod audit_first;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod backup_forgery;
#[cfg(test)]
mod certificates;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod crash_life;
#[cfg(test)]
mod dates;
#[cfg(test)]
mod deterministic;
#[cfg(test)]
mod drain;
#[cfg(test)]
mod every_case;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod forged_log;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod forms;
#[cfg(test)]
mod health;
#[cfg(test)]
mod holders;
#[cfg(test)]
mod hostile_configuration;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod life;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod long_work;
#[cfg(test)]
mod mirror;
#[cfg(test)]
mod overload;
#[cfg(test)]
mod planes;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod rotation;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod seed;
#[cfg(test)]
mod signatures;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod transit;
#[cfg(test)]
mod transit_parameters;
#[cfg(test)]
mod use_limits;
#[cfg(test)]
mod uses;
#[cfg(test)]
mod who_can;
