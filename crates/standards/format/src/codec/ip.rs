//! `ipv4` and `ipv6`: addresses, the first `prefix` bits of which stay. Dotted decimal without leading
//! zeros, and the text of RFC 5952; what is written otherwise would come back in another spelling and is
//! refused. The kept bits go into the tweak as an address with zeros behind them.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::digits::Bytes;
use super::{Amount, Codec, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit};
use crate::rank::{Sink, Source};

#[derive(Debug)]
struct Address {
    bits: u32,
    prefix: u32,
}

pub(crate) fn build_4(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    build(arguments, 32)
}

pub(crate) fn build_6(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    build(arguments, 128)
}

fn build(arguments: &mut Arguments<'_>, bits: u32) -> Result<Box<dyn Codec>, Error> {
    let prefix = arguments.count("prefix", "0", 0..=bits - 7)?;
    let prefix = u32::try_from(prefix).unwrap_or_default();
    Ok(Box::new(Address { bits, prefix }))
}

/// Text of an address without the heap.
struct Line {
    text: [u8; 48],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.text.get_mut(self.used..self.used + text.len());
        room.ok_or(std::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

impl Address {
    fn spell(&self, number: u128) -> Line {
        let mut line = Line {
            text: [0; 48],
            used: 0,
        };
        // An address of either kind has at most 45 characters.
        let _ = match u32::try_from(number) {
            Ok(number) if self.bits == 32 => write!(line, "{}", Ipv4Addr::from_bits(number)),
            _ => write!(line, "{}", Ipv6Addr::from_bits(number)),
        };
        line
    }

    fn parse(&self, value: &[u8]) -> Result<u128, Misfit> {
        let text = std::str::from_utf8(value).map_err(|error| Misfit::Symbol {
            position: error.valid_up_to(),
        })?;
        let number = if self.bits == 32 {
            text.parse::<Ipv4Addr>()
                .map(|address| address.to_bits().into())
        } else {
            text.parse::<Ipv6Addr>().map(Ipv6Addr::to_bits)
        };
        let number = number.map_err(|_| Misfit::Symbol { position: 0 })?;
        let line = self.spell(number);
        if line.text.get(..line.used) == Some(value) {
            Ok(number)
        } else {
            Err(Misfit::Canonical)
        }
    }

    /// A 1 for each bit that is free; `None` if all 128 are.
    const fn free(&self) -> u128 {
        match self.bits - self.prefix {
            128 => u128::MAX,
            free => (1 << free) - 1,
        }
    }
}

impl Codec for Address {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let number = self.parse(value)?;
        if self.prefix > 0 {
            let kept = self.spell(number & !self.free());
            sink.keep(kept.text.get(..kept.used).unwrap_or_default(), Bytes::NONE);
        }
        for place in (0..self.bits - self.prefix).rev() {
            sink.symbol(u16::from(number >> place & 1 == 1));
        }
        sink.run(2, (self.bits - self.prefix) as usize);
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let bits = source.symbols((self.bits - self.prefix) as usize).iter();
        let fresh = bits.fold(0, |number, bit| number << 1 | u128::from(*bit & 1));
        let kept = self.parse(value).unwrap_or_default() & !self.free();
        let line = self.spell(kept | fresh);
        out.extend_from_slice(line.text.get(..line.used).unwrap_or_default());
    }

    fn amount(&self) -> Amount {
        Amount::new(1).times_power(2, {
            let free = (self.bits - self.prefix) as usize;
            free..=free
        })
    }

    fn keeps(&self) -> bool {
        self.prefix > 0
    }

    fn example(&self) -> String {
        if self.bits == 32 {
            "192.0.2.1"
        } else {
            "2001:db8::1"
        }
        .to_owned()
    }

    fn outline(&self) -> Outline {
        let lengths = if self.bits == 32 { 7..=15 } else { 2..=45 };
        Outline {
            lengths,
            ..Outline::default()
        }
    }
}
