//! Listening sockets: one per server thread, all on the same port.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

use super::Error;

/// Connections that have come but are not accepted yet, per socket; the system may cut it.
const BACKLOG: i32 = 4096;

/// Binds `count` sockets to one address, and says which it is when the port was 0.
///
/// The first socket is bound without SO_REUSEPORT and gets the option only then: otherwise a second
/// server of the same user would silently share the port of the first instead of being told that it
/// is taken.
pub(super) fn listen(
    addr: SocketAddr,
    count: usize,
) -> Result<(SocketAddr, Vec<std::net::TcpListener>), Error> {
    let sockets = bind_all(addr, count).map_err(|source| name(addr, source))?;
    let bound = sockets
        .first()
        .map_or(Ok(addr), std::net::TcpListener::local_addr)
        .map_err(|source| name(addr, source))?;
    Ok((bound, sockets))
}

fn bind_all(addr: SocketAddr, count: usize) -> io::Result<Vec<std::net::TcpListener>> {
    let first = socket(addr)?;
    first.bind(&addr.into())?;
    let mut sockets = vec![first];
    if let Some(first) = sockets.first().filter(|_| count > 1) {
        first.set_reuse_port(true)?;
        let bound = std::net::TcpListener::from(first.try_clone()?).local_addr()?;
        for _ in 1..count {
            let next = socket(addr)?;
            next.set_reuse_port(true)?;
            next.bind(&bound.into())?;
            sockets.push(next);
        }
    }
    sockets
        .into_iter()
        .map(|socket| socket.listen(BACKLOG).map(|()| socket.into()))
        .collect()
}

fn socket(addr: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier run that linger in TIME_WAIT do not hold the port.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn name(addr: SocketAddr, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::AddrInUse => Error::PortInUse { addr },
        io::ErrorKind::AddrNotAvailable => Error::AddressUnavailable { addr },
        io::ErrorKind::PermissionDenied => Error::PermissionDenied { addr },
        _ => Error::Listen { addr, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn all_sockets_share_one_port() {
        let (addr, sockets) = listen(loopback(), 3).unwrap();
        assert_ne!(addr.port(), 0);
        assert_eq!(sockets.len(), 3);
        for socket in &sockets {
            assert_eq!(socket.local_addr().unwrap(), addr);
        }
    }

    #[test]
    fn a_second_server_is_told_that_the_port_is_in_use_however_many_threads_either_has() {
        for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            let (addr, held) = listen(loopback(), first).unwrap();
            let refused = listen(addr, second);
            assert!(
                matches!(refused, Err(Error::PortInUse { addr: a }) if a == addr),
                "{first} {second}"
            );
            drop(held);
            assert!(listen(addr, second).is_ok(), "{first} {second}");
        }
    }

    #[test]
    fn an_address_of_another_machine_is_named() {
        let addr = SocketAddr::from(([192, 0, 2, 1], 0));
        assert!(matches!(
            listen(addr, 1),
            Err(Error::AddressUnavailable { .. })
        ));
    }
}
