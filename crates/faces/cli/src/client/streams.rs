//! `encrypt --stream` and `decrypt --stream`: bytes of any number, in constant memory.
//!
//! A file appears only once the stream is known to be whole. On standard output it cannot be held back:
//! there the exit code says whether what came was all.

use std::io::{ErrorKind, Write};

use keywright_client::blocking::Client;
use keywright_client::{Error, Streamed};
use keywright_types::{KeyVersion, Name};
use serde::Serialize;

use crate::client::connection::Connection;
use crate::client::destination::{Destination, Output, Readers};
use crate::client::input::{Aad, Input};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// What a stream is called with.
pub(super) struct Call<'a> {
    pub(super) context: &'a Name,
    pub(super) connection: &'a Connection,
    pub(super) input: &'a Input,
    pub(super) output: &'a Output,
    pub(super) aad: &'a Aad,
}

/// Which way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Open,
    Seal,
}

#[derive(Serialize)]
struct StreamedDocument {
    key_version: KeyVersion,
    bytes_in: u64,
    bytes_out: u64,
}

pub(super) fn run(call: &Call<'_>, way: Way, format: Format) -> Result<Exit, Failure> {
    let aad = call.aad.read()?;
    let readers = match way {
        Way::Open => Readers::Owner,
        Way::Seal => Readers::AsUsual,
    };
    let destination = call.output.prepare(readers)?;
    if format == Format::Json && matches!(destination, Destination::Stdout) {
        return Err(Failure::new(
            Exit::Usage,
            "a stream on standard output is no JSON document",
            "give --output FILE, or leave --format out",
        ));
    }
    let reader = call.input.reader()?;
    let client = call.connection.open()?;
    let passed = (call.context, aad.as_deref(), way);
    match destination {
        Destination::Stdout => match pass(&client, passed, reader, &mut std::io::stdout().lock()) {
            // Whoever read it has enough.
            Err(Error::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {}
            done => {
                done.map_err(|error| failed(error, way))?;
                // What is left of the last line.
                output::data(&[])?;
            }
        },
        Destination::File(file) => {
            let streamed = file.fill(|out| {
                let done = pass(&client, passed, reader, out);
                done.map_err(|error| failed(error, way))
            })?;
            let document = StreamedDocument {
                key_version: streamed.key_version,
                bytes_in: streamed.bytes_in,
                bytes_out: streamed.bytes_out,
            };
            output::document(format, &document, String::new)?;
        }
    }
    Ok(Exit::Ok)
}

fn pass(
    client: &Client,
    (context, aad, way): (&Name, Option<&[u8]>, Way),
    reader: Box<dyn std::io::Read + Send>,
    writer: &mut impl Write,
) -> Result<Streamed, Error> {
    let done = match way {
        Way::Open => client.decrypt_stream(context, aad, (reader, writer))?,
        Way::Seal => client.encrypt_stream(context, aad, (reader, writer))?,
    };
    writer.flush().map_err(Error::Write)?;
    Ok(done)
}

/// What a stream that is broken off means here: what was opened does not fit, most often.
fn failed(error: Error, way: Way) -> Failure {
    match (&error, way) {
        (Error::BrokenOff, Way::Open) => Failure::new(
            Exit::Negative,
            "the stream does not open to its end: it was cut or changed",
            "throw away what was written, and take the stream from where it is whole",
        ),
        (Error::Read(_) | Error::Write(_), _) => {
            let failure = Failure::from(error);
            Failure {
                exit: Exit::Internal,
                advice: "see the cause; nothing was kept".to_owned(),
                ..failure
            }
        }
        _ => Failure::from(error),
    }
}
