//! Conditions between operations of one run.

use std::str::FromStr;

use serde::Serialize;

use super::report::median;
use super::{Block, Case};
use crate::exit::{Exit, Failure};

/// `a/b<=1.15` or `a/b>=0.3`: a bound on the ratio of two operations' costs, or, written `rate:a/b`, of
/// their rates; `a<=500` bounds the quantity itself. The value is the median over rounds, and a ratio is
/// taken within each round first.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    text: String,
    of: Quantity,
    above: String,
    /// What it is divided by; without it the quantity itself is bounded.
    below: Option<String>,
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
        let (above, below) = match ratio.split_once('/') {
            Some((above, below)) => (above, Some(below.to_owned())),
            None => (ratio, None),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let bound = if least {
            Bound::AtLeast(number)
        } else {
            Bound::AtMost(number)
        };
        Ok(Self {
            text: text.to_owned(),
            of,
            above: above.to_owned(),
            below,
            bound,
        })
    }
}

impl Gate {
    pub(super) fn judge(&self, cases: &[Case]) -> Result<Verdict, Failure> {
        let find = |name: &str| {
            cases.iter().find(|case| case.name == name).ok_or_else(|| {
                let happened = format!(
                    "the gate {} names {name}, which was not measured",
                    self.text
                );
                Failure::new(
                    Exit::Usage,
                    happened,
                    "name both operations on the command line",
                )
            })
        };
        let of = |block: &Block| match self.of {
            Quantity::Cost => block.cpu_ns / block.done,
            Quantity::Rate => block.done / block.seconds,
        };
        let above = find(&self.above)?.rounds().iter();
        let values = match &self.below {
            Some(below) => above
                .zip(find(below)?.rounds())
                .map(|(a, b)| of(a) / of(b))
                .collect(),
            None => above.map(of).collect(),
        };
        let value = median(values);
        let holds = match self.bound {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        };
        Ok(Verdict {
            condition: self.text.clone(),
            value,
            holds,
        })
    }
}
