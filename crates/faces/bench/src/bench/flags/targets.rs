//! Flags that say whom to measure.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::PathBuf;

use keywright_targets::operation::{Make, Operation};

/// The server of service operations.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(in crate::bench) struct TargetFlags {
    /// Pin servers to this core (with `taskset`); pin this program to another.
    #[arg(long, value_name = "CPU")]
    pub(in crate::bench) server_cpu: Option<u32>,
    /// Keep operations in this process on this core, with the threads that they start: what is held against a server's
    /// time is measured where the server has it. Operations of other processes (`--processes`) stay where they are.
    #[arg(long, value_name = "CPU")]
    pub(in crate::bench) local_cpu: Option<u32>,
    /// Connections to a service; each operation has its own number.
    #[arg(long, value_name = "N")]
    pub(in crate::bench) connections: Option<NonZeroU32>,
    /// Requests in flight on each connection.
    #[arg(long, value_name = "N")]
    pub(in crate::bench) streams: Option<NonZeroU32>,
    /// The version of HTTP that a service is asked in.
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(in crate::bench) http: Option<u8>,
    /// A bare server to compare with, called as `PROGRAM ADDR CA CERT KEY`: the operation `service.floor`.
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::bench) floor: Option<PathBuf>,
    /// The `keywright` program that serves [else: the one beside this program].
    #[arg(long, value_name = "FILE")]
    pub(in crate::bench) program: Option<PathBuf>,
    /// A folder for files and homes of the measurement; by default one that is removed afterwards.
    #[arg(long, value_name = "DIR")]
    pub(in crate::bench) work: Option<PathBuf>,
    /// The address of a running service for `service` operations, instead of one that is started.
    #[arg(long, value_name = "URL", requires_all = ["cacert", "cert", "key", "context"])]
    pub(in crate::bench) addr: Option<String>,
    /// The certificate authority of that service, in PEM.
    #[arg(long, value_name = "FILE", requires = "addr")]
    pub(in crate::bench) cacert: Option<PathBuf>,
    /// Our certificate for it, in PEM.
    #[arg(long, value_name = "FILE", requires = "addr")]
    pub(in crate::bench) cert: Option<PathBuf>,
    /// The key of our certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "addr")]
    pub(in crate::bench) key: Option<PathBuf>,
    /// The context that the certificate may work in.
    #[arg(long, value_name = "NAME", requires = "addr")]
    pub(in crate::bench) context: Option<String>,
    /// Load a target that is not on this machine. Make sure that whoever runs it knows.
    #[arg(long)]
    pub(in crate::bench) allow_remote: bool,
    /// The address of a secret store for `vault` operations, or `dev` to start the `bao` or `vault` on PATH;
    /// without either a stand-in is started, and labelled as one.
    #[arg(long, value_name = "URL|dev")]
    pub(in crate::bench) store: Option<String>,
    /// A file with the token of that store.
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(in crate::bench) store_token_file: Option<PathBuf>,
    /// The certificate authority of that store.
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(in crate::bench) store_ca: Option<PathBuf>,
    /// What other tools call the switch that leaves certificates unchecked. Here it says what to do instead.
    #[arg(long, hide = true, num_args = 0, default_missing_value = "", value_parser = always_checked)]
    insecure: Option<Infallible>,
}

/// A figure of a connection to nobody knows whom is a figure of nobody knows what.
fn always_checked(_: &str) -> Result<Infallible, &'static str> {
    Err("certificates are always checked; name a private authority with --cacert or --store-ca")
}

impl TargetFlags {
    /// The operation with the connections, streams and version of HTTP that were asked for.
    pub(in crate::bench) fn shaped(&self, operation: &Operation) -> Operation {
        let mut operation = *operation;
        if let Make::Service(shape) = &mut operation.make {
            shape.connections = self.connections.map_or(shape.connections, NonZeroU32::get);
            shape.streams = self.streams.map_or(shape.streams, NonZeroU32::get);
            shape.http1 = self.http.map_or(shape.http1, |version| version == 1);
        }
        operation
    }
}
