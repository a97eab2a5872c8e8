//! Claims written down by hand, with the relations that they should keep. The form is in [`crate`].

use std::collections::HashMap;

use serde::Deserialize;
use toml::Spanned;

use crate::error::Error;
use crate::finding::Check;
use crate::span::Span;

/// A file of claims whose relations name claims that exist and take them in the right number.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) claims: Vec<Claim>,
    pub(crate) relations: Vec<Relation>,
}

/// Every relation reads its series anew, so there is an end to them.
const MAX_SERIES: usize = 1_000;

/// One claimed figure.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) figures: Figures,
    pub(crate) unit: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figures {
    One(f64),
    Range(Span),
    Series(Vec<f64>),
}

impl Figures {
    /// The single span of this claim; none for a series.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            Self::One(value) => Some(Span::exactly(*value)),
            Self::Range(span) => Some(*span),
            Self::Series(_) => None,
        }
    }

    /// Every figure on its own.
    pub(crate) fn each(&self) -> Vec<Span> {
        match self {
            Self::Series(values) => values.iter().copied().map(Span::exactly).collect(),
            Self::One(value) => vec![Span::exactly(*value)],
            Self::Range(span) => vec![*span],
        }
    }

    pub(crate) fn sum(&self) -> Span {
        self.each().into_iter().fold(Span::exactly(0.0), Span::plus)
    }
}

/// What should hold between claims.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    AtLeast,
    AtMost,
    Differ,
    Equal,
    Product,
    Quotient,
    Ratio,
    Sum,
    Within,
}

#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    /// Indices into the claims: the left side, the right side, and a factor of a sum.
    pub(crate) claim: usize,
    pub(crate) of: Vec<usize>,
    pub(crate) times: Option<usize>,
    pub(crate) tolerance: f64,
    pub(crate) check: Option<Check>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SheetFile {
    version: u32,
    #[serde(default)]
    claim: Vec<ClaimFile>,
    #[serde(default)]
    relation: Vec<RelationFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    name: Spanned<String>,
    value: Option<f64>,
    range: Option<[f64; 2]>,
    series: Option<Vec<f64>>,
    #[serde(default)]
    unit: String,
    #[serde(default, rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationFile {
    name: Spanned<String>,
    kind: Kind,
    claim: String,
    of: Vec<String>,
    times: Option<String>,
    #[serde(default = "one_percent")]
    tolerance: f64,
    check: Option<Check>,
}

/// What may separate figures that people copy by hand.
const fn one_percent() -> f64 {
    0.01
}

pub(crate) fn read(text: &str) -> Result<Sheet, Error> {
    let file: SheetFile = toml::from_str(text).map_err(Box::new)?;
    if file.version != 1 {
        return Err(Error::Version {
            found: file.version,
        });
    }
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |offset: usize| ends.partition_point(|end| *end < offset) + 1;
    let claims: Vec<Claim> = file
        .claim
        .into_iter()
        .map(|one| claim(one, line_of))
        .collect::<Result<_, _>>()?;
    let mut names = HashMap::new();
    for (index, claim) in claims.iter().enumerate() {
        names.entry(claim.name.as_str()).or_insert(index);
    }
    let known = Known {
        claims: &claims,
        names,
    };
    let relations = file
        .relation
        .into_iter()
        .map(|one| relation(one, &known, line_of))
        .collect::<Result<_, _>>()?;
    Ok(Sheet { claims, relations })
}

fn claim(file: ClaimFile, line_of: impl Fn(usize) -> usize) -> Result<Claim, Error> {
    let line = line_of(file.name.span().start);
    let name = file.name.into_inner();
    let figures = match (file.value, file.range, file.series) {
        (Some(value), None, None) => Figures::One(value),
        (None, Some([low, high]), None) if low <= high => Figures::Range(Span::new(low, high)),
        (None, None, Some(series)) if (1..=MAX_SERIES).contains(&series.len()) => {
            Figures::Series(series)
        }
        _ => return Err(Error::Figures { claim: name }),
    };
    let finite = |span: &Span| span.low.is_finite() && span.high.is_finite();
    if !figures.each().iter().all(finite) {
        return Err(Error::Figures { claim: name });
    }
    Ok(Claim {
        name,
        line,
        figures,
        unit: file.unit,
    })
}

/// The claims of a file, and where each name stands first.
struct Known<'a> {
    claims: &'a [Claim],
    names: HashMap<&'a str, usize>,
}

fn relation(
    file: RelationFile,
    known: &Known<'_>,
    line_of: impl Fn(usize) -> usize,
) -> Result<Relation, Error> {
    let line = line_of(file.name.span().start);
    let name = file.name.into_inner();
    if !(0.0..=1.0).contains(&file.tolerance) {
        return Err(Error::Tolerance { relation: name });
    }
    let find = |wanted: &String| {
        known
            .names
            .get(wanted.as_str())
            .copied()
            .ok_or_else(|| Error::UnknownClaim {
                relation: name.clone(),
                claim: wanted.clone(),
            })
    };
    let relation = Relation {
        line,
        kind: file.kind,
        claim: find(&file.claim)?,
        of: file.of.iter().map(find).collect::<Result<_, _>>()?,
        times: file.times.as_ref().map(find).transpose()?,
        tolerance: file.tolerance,
        check: file.check,
        name: name.clone(),
    };
    if !takes_operands(&relation, known.claims) {
        return Err(Error::Operands { relation: name });
    }
    if !has_one_unit(&relation, known.claims) {
        return Err(Error::Units { relation: name });
    }
    Ok(relation)
}

fn takes_operands(relation: &Relation, claims: &[Claim]) -> bool {
    let single = |index: &usize| {
        claims
            .get(*index)
            .is_some_and(|claim| claim.figures.span().is_some())
    };
    let all_single = single(&relation.claim) && relation.of.iter().all(single);
    // Multiplying ends of spans is right from zero on only.
    let is_positive = |index: &usize| {
        claims
            .get(*index)
            .is_some_and(|claim| claim.figures.each().iter().all(|span| span.low >= 0.0))
    };
    let all_positive = relation.of.iter().chain(&relation.times).all(is_positive);
    let number = relation.of.len();
    let fits = match relation.kind {
        Kind::Sum => number >= 1 && single(&relation.claim),
        Kind::Product | Kind::Quotient => number >= 2 && all_single && all_positive,
        Kind::Ratio => number == 2 && all_single && all_positive,
        Kind::AtLeast | Kind::AtMost | Kind::Differ | Kind::Equal | Kind::Within => number == 1,
    };
    let times = relation
        .times
        .is_none_or(|index| single(&index) && all_positive);
    fits && times && (relation.times.is_none() || relation.kind == Kind::Sum)
}

/// What is added or compared has one unit; what is multiplied need not.
fn has_one_unit(relation: &Relation, claims: &[Claim]) -> bool {
    let unit = |index: &usize| claims.get(*index).map(|claim| claim.unit.as_str());
    let mut of = relation.of.iter().map(unit);
    let first = of.next().flatten();
    let alike = of.all(|unit| unit == first);
    match relation.kind {
        Kind::Product | Kind::Quotient => true,
        Kind::Ratio => alike,
        Kind::Sum => alike && (relation.times.is_some() || unit(&relation.claim) == first),
        Kind::AtLeast | Kind::AtMost | Kind::Differ | Kind::Equal | Kind::Within => {
            unit(&relation.claim) == first
        }
    }
}
