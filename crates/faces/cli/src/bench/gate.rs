//! Conditions between operations of one run.

use std::str::FromStr;

use serde::Serialize;

use super::Case;
use super::report::median;
use crate::exit::{Exit, Failure};

/// `a/b<=1.15` or `a/b>=0.3`: a bound on the ratio of two operations' costs, or, written `rate:a/b`, of
/// their rates. The ratio is the median over rounds of the ratios within each round.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    text: String,
    of: Quantity,
    above: String,
    below: String,
    bound: Bound,
}

#[derive(Clone, Copy, Debug)]
enum Quantity {
    Cost,
    Rate,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// How a gate was judged.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    pub(crate) condition: String,
    pub(crate) value: f64,
    pub(crate) holds: bool,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a gate is written a/b<=1.15, a/b>=0.3 or rate:a/b>=0.3".to_owned();
        let (of, rest) = match text.strip_prefix("rate:") {
            Some(rest) => (Quantity::Rate, rest),
            None => (Quantity::Cost, text),
        };
        let split = |sign| rest.split_once(sign);
        let (ratio, number, least) = match (split("<="), split(">=")) {
            (Some((ratio, number)), None) => (ratio, number, false),
            (None, Some((ratio, number))) => (ratio, number, true),
            _ => return Err(wrong()),
        };
        let (above, below) = ratio.split_once('/').ok_or_else(wrong)?;
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let bound = if least { Bound::AtLeast(number) } else { Bound::AtMost(number) };
        Ok(Self { text: text.to_owned(), of, above: above.to_owned(), below: below.to_owned(), bound })
    }
}

impl Gate {
    pub(super) fn judge(&self, cases: &[Case]) -> Result<Verdict, Failure> {
        let find = |name: &str| {
            cases.iter().find(|case| case.name == name).ok_or_else(|| {
                let happened = format!("the gate {} names {name}, which was not measured", self.text);
                Failure::new(Exit::Usage, happened, "name both operations on the command line")
            })
        };
        let (above, below) = (find(&self.above)?, find(&self.below)?);
        let pairs = above.rounds().iter().zip(below.rounds());
        let ratios = pairs.map(|(a, b)| match self.of {
            Quantity::Cost => (a.cpu_ns / a.done) / (b.cpu_ns / b.done),
            Quantity::Rate => (a.done / a.seconds) / (b.done / b.seconds),
        });
        let value = median(ratios.collect());
        let holds = match self.bound {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        };
        Ok(Verdict { condition: self.text.clone(), value, holds })
    }
}
