//! The names of what can be asked of the service. Names are stable.

use keywright_api::Codec;

use super::{Kind, Shape, figures};
use crate::operation::{Make, Operation};

/// Everything that can be asked of the service.
pub const OPERATIONS: &[Operation] = &[
    row("service.floor", of(Kind::Floor)),
    row("service.null", of(Kind::Null)),
    row("service.null.http1", http1(Kind::Null)),
    row("service.null.batch", batch(Kind::Null)),
    row("service.null.batch.cbor", in_cbor(batch(Kind::Null))),
    row("service.encrypt", of(Kind::Encrypt)),
    row("service.encrypt.512", sized(Kind::Encrypt, 512)),
    row("service.encrypt.4k", sized(Kind::Encrypt, 4096)),
    row("service.encrypt.single-stream", single(Kind::Encrypt)),
    row("service.encrypt.http1", http1(Kind::Encrypt)),
    row("service.encrypt.batch", batch(Kind::Encrypt)),
    row("service.encrypt.batch.cbor", in_cbor(batch(Kind::Encrypt))),
    row("service.encrypt.token", sized(Kind::EncryptInToken, 32)),
    row("service.decrypt", of(Kind::Decrypt)),
    row("service.decrypt.512", sized(Kind::Decrypt, 512)),
    row("service.decrypt.4k", sized(Kind::Decrypt, 4096)),
    row("service.decrypt.single-stream", single(Kind::Decrypt)),
    row("service.decrypt.http1", http1(Kind::Decrypt)),
    row("service.decrypt.batch", batch(Kind::Decrypt)),
    row("service.decrypt.batch.cbor", in_cbor(batch(Kind::Decrypt))),
    // One after the other over one kept connection, as a caller alone would.
    row("service.roundtrip", single(Kind::RoundTrip)),
    row("service.roundtrip.parallel", of(Kind::RoundTrip)),
    row("service.mixed", of(Kind::Mixed)),
    row("service.two-tenants", of(Kind::TwoTenants)),
    // The second asks twice as often as the first.
    row("service.flood", of(Kind::Flood)),
    row("service.rewrap", of(Kind::Rewrap)),
    row("service.datakey", sized(Kind::DataKey, 32)),
    row("service.random", sized(Kind::Random, 32)),
    row("service.encrypt.stream", stream(Kind::SealStream, 64 << 10)),
    row(
        "service.encrypt.stream.1m",
        stream(Kind::SealStream, 1 << 20),
    ),
    row("service.decrypt.stream", stream(Kind::OpenStream, 64 << 10)),
    row(
        "service.decrypt.stream.1m",
        stream(Kind::OpenStream, 1 << 20),
    ),
    row("service.health", sized(Kind::Health, 0)),
    row("service.sign.ed25519", sized(Kind::SignEd25519, 32)),
    row("service.sign.p256", sized(Kind::SignP256, 32)),
    row("service.sign.p384", sized(Kind::SignP384, 32)),
    row("service.sign.ml-dsa-65", sized(Kind::SignMlDsa65, 32)),
    row("service.sign.rsa2048-pss", sized(Kind::SignRsa2048Pss, 32)),
    row("service.hd.sign", sized(Kind::SignHd, 32)),
    row("service.null.sign", sized(Kind::NullSign, 32)),
    row("service.tokenize.batch1000", values(Kind::Tokenize)),
    row(
        "service.null.tokenize.batch1000",
        values(Kind::NullTokenize),
    ),
    figure("service.start.10k", "ms", Make::Figure(figures::start_10k)),
    figure(
        "service.idle-memory.0",
        "MiB",
        Make::Figure(figures::idle_0),
    ),
    figure(
        "service.idle-memory.1000",
        "MiB",
        Make::Figure(figures::idle_1000),
    ),
    figure(
        "service.idle-connection.10k",
        "KiB",
        Make::Figure(figures::idle_connection),
    ),
    figure("service.handshake", "us", Make::Figure(figures::handshake)),
];

const fn row(name: &'static str, shape: Shape) -> Operation {
    Operation {
        name,
        target: "service",
        unit: if shape.items > 1 { "items" } else { "requests" },
        units: shape.items as u64,
        bytes: shape.bytes as u64 * shape.items as u64,
        make: Make::Service(shape),
    }
}

const fn figure(name: &'static str, unit: &'static str, make: Make) -> Operation {
    Operation {
        name,
        target: "service",
        unit,
        units: 1,
        bytes: 0,
        make,
    }
}

const fn of(kind: Kind) -> Shape {
    Shape {
        kind,
        ..Shape::MANY
    }
}

const fn sized(kind: Kind, bytes: u32) -> Shape {
    Shape { bytes, ..of(kind) }
}

const fn single(kind: Kind) -> Shape {
    Shape {
        connections: 1,
        streams: 1,
        ..of(kind)
    }
}

const fn http1(kind: Kind) -> Shape {
    Shape {
        connections: 16,
        streams: 1,
        http1: true,
        ..of(kind)
    }
}

const fn batch(kind: Kind) -> Shape {
    Shape {
        connections: 1,
        streams: 2,
        bytes: 64,
        items: 1000,
        ..of(kind)
    }
}

/// The same in the binary form.
const fn in_cbor(shape: Shape) -> Shape {
    Shape {
        codec: Codec::Cbor,
        ..shape
    }
}

const fn stream(kind: Kind, bytes: u32) -> Shape {
    Shape {
        connections: 1,
        streams: 4,
        bytes,
        ..of(kind)
    }
}

/// Card numbers, 1,000 in a request.
const fn values(kind: Kind) -> Shape {
    Shape {
        bytes: 16,
        ..batch(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dotted_lower_case_and_of_one_operation_each() {
        for (place, operation) in OPERATIONS.iter().enumerate() {
            let allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '.' | '-');
            assert!(operation.name.starts_with("service."), "{}", operation.name);
            assert!(operation.name.chars().all(allowed), "{}", operation.name);
            let before = &OPERATIONS[..place];
            assert!(before.iter().all(|other| other.name != operation.name));
        }
    }

    #[test]
    fn over_http_1_a_connection_is_one_place() {
        for operation in OPERATIONS {
            if let Make::Service(shape) = operation.make {
                let streams = if shape.http1 { 1 } else { shape.streams };
                assert_eq!(
                    shape.places(),
                    shape.connections * streams,
                    "{}",
                    operation.name
                );
            }
        }
    }
}
