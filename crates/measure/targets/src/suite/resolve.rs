//! From what a case says to cases that can be carried: one for each combination of target, size and load.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::load::{Arrival, Open, Phase};
use keywright_measure::plan::CasePlan;
use keywright_measure::{Load, Window};

use super::error::{Error, Problem, cut};
use super::fields::{Fields, LONGEST};
use super::nearest::nearest;
use super::node::Located;
use super::operations::{Wanted, find};
use super::shape::{HttpVersion, LoadFields, Mode};
use super::target::Target;
use super::{Context, SuiteCase, Work};
use crate::operation::{Make, Operation};

/// A case as it was written.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) id: Located<String>,
    pub(super) fields: Fields,
}

/// What a case is resolved against.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) targets: &'a BTreeMap<String, Target>,
    pub(super) defaults: &'a Fields,
    pub(super) context: &'a Context<'a>,
}

/// The most cases of a suite, combinations counted.
pub(super) const MOST_CASES: usize = 10_000;

/// What the empty operation and the server on paper are called.
const NULL: &str = "null.call";
const SCRIPT: &str = "script.call";
/// What is asked of any URL.
const GET: &str = "http.get";

/// A load of one case, and what its id gets for it.
struct Point {
    label: Option<String>,
    load: Load,
    window: Window,
}

/// One combination on its way to a case.
struct Cell<'a> {
    draft: &'a Draft,
    fields: &'a Fields,
    name: &'a str,
    target: &'a Target,
    size: Option<&'a Located<u64>>,
}

impl Draft {
    pub(super) fn resolve(&self, against: Against<'_>) -> Result<Vec<SuiteCase>, Error> {
        let mut fields = self.fields.clone().over(against.defaults);
        if self.fields.phases.is_some() {
            // Phases say how long a run is; what the defaults say is for cases without.
            fields.window = None;
        }
        let names = fields.targets.as_ref().ok_or_else(|| {
            let (table, key) = ("a case", "target");
            self.id.error(Problem::Missing { table, key })
        })?;
        let sizes: Vec<Option<&Located<u64>>> = match &fields.sizes {
            Some(sizes) => sizes.iter().map(Some).collect(),
            None => vec![None],
        };
        let many = names
            .len()
            .saturating_mul(sizes.len())
            .saturating_mul(loads(&fields));
        if many > MOST_CASES {
            return Err(self.id.error(too_many()));
        }
        let mut cases = Vec::with_capacity(many);
        for name in names {
            let target = declared(against.targets, name)?;
            for size in &sizes {
                let cell = Cell {
                    draft: self,
                    fields: &fields,
                    name: &name.value,
                    target,
                    size: *size,
                };
                cases.extend(cell.cases(against.context)?);
            }
        }
        Ok(cases)
    }
}

pub(super) const fn too_many() -> Problem {
    Problem::TooMany {
        what: "cases",
        most: MOST_CASES,
    }
}

/// How many loads a case has.
fn loads(fields: &Fields) -> usize {
    let count = fields
        .load
        .as_ref()
        .map_or(1, |load| match &load.value.mode {
            Mode::Closed { concurrency } => concurrency.len(),
            Mode::Open { rates, .. } => rates.len(),
        });
    count.max(1)
}

fn declared<'a>(
    targets: &'a BTreeMap<String, Target>,
    name: &Located<String>,
) -> Result<&'a Target, Error> {
    targets.get(&name.value).ok_or_else(|| {
        let near = nearest(&name.value, targets.keys().map(String::as_str), 1);
        name.error(Problem::UnknownTarget {
            name: cut(&name.value),
            nearest: near.first().map(|name| (*name).to_owned()),
        })
    })
}

impl Cell<'_> {
    fn error(&self, problem: Problem) -> Error {
        self.draft.id.error(problem)
    }

    fn cases(&self, context: &Context<'_>) -> Result<Vec<SuiteCase>, Error> {
        let work = self.work(context)?;
        let points = self.points(&work)?;
        points
            .into_iter()
            .map(|point| self.case(&work, point))
            .collect()
    }

    fn work(&self, context: &Context<'_>) -> Result<Work, Error> {
        match self.target {
            Target::Script(_) => self.alone(SCRIPT).map(|()| Work::Script),
            Target::Http { .. } => self.alone(GET).map(|()| Work::Url),
            Target::Null => {
                self.alone(NULL)?;
                self.operation(context, NULL, "local").map(Work::One)
            }
            target => {
                let kind = target.kind();
                if let Some(mix) = &self.fields.mix {
                    let part = |(name, weight): &(String, f64)| {
                        let operation = self.operation(context, name, kind);
                        operation.map(|operation| (operation, *weight))
                    };
                    return mix
                        .value
                        .iter()
                        .map(part)
                        .collect::<Result<_, _>>()
                        .map(Work::Mix);
                }
                let op = self.fields.op.as_ref().ok_or_else(|| {
                    let (table, key) = ("a case", "op or mix");
                    self.error(Problem::Missing { table, key })
                })?;
                self.operation(context, &op.value, kind).map(Work::One)
            }
        }
    }

    /// Targets of one operation: it may be named, and has no sizes and no mix. Of a URL there is only the GET.
    fn alone(&self, only: &'static str) -> Result<(), Error> {
        let kind = self.target.kind();
        if let Some(op) = self.fields.op.as_ref().filter(|op| op.value != only) {
            return Err(op.error(Problem::UnknownOperation {
                name: cut(&op.value),
                nearest: vec![only.to_owned()],
            }));
        }
        let given = [
            ("mix", self.fields.mix.is_some()),
            ("sizes", self.fields.sizes.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => Err(self.error(Problem::NotForTarget { field, kind })),
            None => Ok(()),
        }
    }

    fn operation(
        &self,
        context: &Context<'_>,
        name: &str,
        kind: &'static str,
    ) -> Result<Operation, Error> {
        let wanted = Wanted {
            name,
            key: self.fields.key.as_deref(),
            kind,
            size: self.size.map(|size| size.value),
        };
        let place = self.fields.op.as_ref().map(|op| &op.place);
        let place = place.or(self.fields.mix.as_ref().map(|mix| &mix.place));
        let place = place.unwrap_or(&self.draft.id.place);
        let mut operation = find(context.operations, wanted)
            .map_err(|problem| Error::new(place.clone(), problem))?;
        if let Some(load) = &self.fields.load {
            self.shape(&mut operation, &load.value)?;
        }
        Ok(operation)
    }

    /// Puts connections, streams and the version of HTTP into a request.
    fn shape(&self, operation: &mut Operation, load: &LoadFields) -> Result<(), Error> {
        let Make::Service(shape) = &mut operation.make else {
            let given = [
                ("load.connections", load.connections.is_some()),
                ("load.streams", load.streams.is_some()),
                ("load.http", load.http.is_some()),
            ];
            // Other servers are reached over connections too, and whoever carries the load makes them.
            let remote = matches!(
                self.target,
                Target::Http { .. } | Target::Kv(_) | Target::Transit(_)
            );
            return match given.into_iter().find(|(_, given)| *given && !remote) {
                Some((field, _)) => {
                    let kind = self.target.kind();
                    Err(self.error(Problem::NotForTarget { field, kind }))
                }
                None => Ok(()),
            };
        };
        if let Some(http) = &load.http {
            shape.http1 = http.value == HttpVersion::One;
            if shape.http1 {
                shape.streams = 1;
            }
        }
        shape.connections = load
            .connections
            .as_ref()
            .map_or(shape.connections, |given| given.value);
        shape.streams = load
            .streams
            .as_ref()
            .map_or(shape.streams, |given| given.value);
        Ok(())
    }

    fn points(&self, work: &Work) -> Result<Vec<Point>, Error> {
        if let Work::One(operation) = work
            && matches!(operation.make, Make::Figure(_))
        {
            return self.figure(operation);
        }
        let natural = self.natural(work);
        let window = self.fields.window.unwrap_or(DEFAULT_WINDOW);
        let closed = |workers| Load::Closed { workers };
        let Some(load) = &self.fields.load else {
            return match &self.fields.phases {
                Some(phases) => Ok(vec![phased(Arrival::Constant, &phases.value, natural)]),
                None => Ok(vec![point(closed(natural), window)]),
            };
        };
        match (&load.value.mode, &self.fields.phases) {
            (Mode::Closed { .. }, Some(phases)) => Err(phases.error(Problem::Conflict {
                one: "phases",
                other: "a closed load",
            })),
            (Mode::Closed { concurrency }, None) if concurrency.is_empty() => {
                Ok(vec![point(closed(natural), window)])
            }
            (Mode::Closed { concurrency }, None) => concurrency
                .iter()
                .map(|count| {
                    let label = format!("concurrency={}", count.value);
                    self.cap(work, Some(count), natural)?;
                    Ok(Point {
                        label: (concurrency.len() > 1).then_some(label),
                        ..point(closed(count.value), window)
                    })
                })
                .collect(),
            (
                Mode::Open {
                    arrival,
                    rates,
                    cap,
                },
                phases,
            ) => {
                let cap = self.cap(work, cap.as_ref(), natural)?;
                match phases {
                    Some(phases) if rates.is_empty() => {
                        Ok(vec![phased(*arrival, &phases.value, cap)])
                    }
                    Some(phases) => Err(phases.error(Problem::Conflict {
                        one: "phases",
                        other: "load.rate",
                    })),
                    None => {
                        rated(*arrival, rates, cap, window).map_err(|problem| load.error(problem))
                    }
                }
            }
        }
    }

    /// A figure is measured once a run, whatever the defaults say about loads.
    fn figure(&self, operation: &Operation) -> Result<Vec<Point>, Error> {
        let own = &self.draft.fields;
        let given = [
            ("load", own.load.is_some()),
            ("phases", own.phases.is_some()),
            ("duration or iterations", own.window.is_some()),
        ];
        if let Some((field, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(self.error(Problem::NotForFigure {
                operation: operation.name.to_owned(),
                field,
            }));
        }
        let workers = NonZeroU32::MIN;
        Ok(vec![point(Load::Closed { workers }, Window::Operations(1))])
    }

    /// How many at once when nobody says.
    fn natural(&self, work: &Work) -> NonZeroU32 {
        let places = match (work, self.target) {
            (Work::Script, Target::Script(script)) => script.server.places,
            (Work::One(operation), _) => places(operation).map_or(1, |(both, _)| both),
            (Work::Mix(parts), _) => {
                let first = parts.first();
                first
                    .and_then(|(operation, _)| places(operation))
                    .map_or(1, |(both, _)| both)
            }
            _ => 1,
        };
        NonZeroU32::new(places).unwrap_or(NonZeroU32::MIN)
    }

    /// A number that was given has to fit connections and streams that were given too.
    fn cap(
        &self,
        work: &Work,
        given: Option<&Located<NonZeroU32>>,
        natural: NonZeroU32,
    ) -> Result<NonZeroU32, Error> {
        let Some(cap) = given else {
            return Ok(natural);
        };
        let load = self.fields.load.as_ref().map(|load| &load.value);
        let fixed = load.is_some_and(|load| load.connections.is_some());
        let operation = match work {
            Work::One(operation) => Some(operation),
            Work::Mix(parts) => parts.first().map(|(operation, _)| operation),
            Work::Script | Work::Url => None,
        };
        match operation.and_then(places) {
            Some((both, (connections, streams))) if fixed && cap.value.get() > both => Err(cap
                .error(Problem::Cap {
                    cap: cap.value.get(),
                    connections,
                    streams,
                })),
            _ => Ok(cap.value),
        }
    }

    fn case(&self, work: &Work, point: Point) -> Result<SuiteCase, Error> {
        let fields = self.fields;
        let warmup = fields.warmup.unwrap_or(DEFAULT_WARMUP);
        let figure =
            matches!(work, Work::One(operation) if matches!(operation.make, Make::Figure(_)));
        let warmup = if figure {
            Window::Operations(0)
        } else {
            warmup
        };
        let mut plan = work.plan(self.name);
        plan.id = self.id(&point);
        plan.parameters.extend(self.parameters());
        plan.load = point.load;
        plan.window = point.window;
        plan.warmup = match warmup {
            Window::Time(time) => time,
            _ => Duration::ZERO,
        };
        self.judging(&mut plan);
        Ok(SuiteCase {
            plan,
            work: work.clone(),
            warmup,
            runs: fields.runs.unwrap_or(1),
            cooldown: fields.cooldown.unwrap_or(Duration::ZERO),
            seed: fields.seed,
            preset: fields.preset,
            gate: fields.gate.clone(),
            tags: fields.tags.clone().unwrap_or_default(),
            connections: self
                .fields
                .load
                .as_ref()
                .and_then(|load| load.value.connections.as_ref().map(|count| count.value)),
            streams: self
                .fields
                .load
                .as_ref()
                .and_then(|load| load.value.streams.as_ref().map(|count| count.value)),
            http: self
                .fields
                .load
                .as_ref()
                .and_then(|load| load.value.http.as_ref().map(|http| http.value)),
        })
    }

    fn judging(&self, plan: &mut CasePlan) {
        let fields = self.fields;
        plan.verify = fields.verify.unwrap_or(plan.verify);
        plan.few = fields.few.unwrap_or(plan.few);
        plan.timeout = fields.timeout.unwrap_or(plan.timeout);
        plan.drain = fields.drain.unwrap_or(plan.drain);
        plan.error_budget = fields.error_budget.unwrap_or(plan.error_budget);
        if let Some(percentiles) = &fields.percentiles {
            plan.percentiles.clone_from(percentiles);
        }
        if let Some(objectives) = &fields.slo {
            plan.objectives.clone_from(objectives);
        }
    }

    /// The case's id, and for every list that it gave, the value of this combination.
    fn id(&self, point: &Point) -> String {
        let targets = self.fields.targets.as_ref().map_or(0, Vec::len);
        let sizes = self.fields.sizes.as_ref().map_or(0, Vec::len);
        let target = (targets > 1).then(|| format!("target={}", self.name));
        let size = self.size.filter(|_| sizes > 1);
        let size = size.map(|size| format!("size={}", shown(size.value)));
        let mut id = self.draft.id.value.clone();
        for part in [target, size, point.label.clone()].into_iter().flatten() {
            id.push('/');
            id.push_str(&part);
        }
        id
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        let load = self.fields.load.as_ref().map(|load| &load.value);
        let http = load
            .and_then(|load| load.http.as_ref())
            .map(|http| match http.value {
                HttpVersion::One => "1",
                HttpVersion::Two => "2",
            });
        let streams = load.and_then(|load| load.streams.as_ref());
        let all = [
            ("key", self.fields.key.clone()),
            ("size_bytes", self.size.map(|size| size.value.to_string())),
            ("http", http.map(str::to_owned)),
            ("seed", self.fields.seed.map(|seed| seed.to_string())),
            ("streams", streams.map(|streams| streams.value.to_string())),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

const DEFAULT_WINDOW: Window = Window::Time(Duration::from_secs(2));
const DEFAULT_WARMUP: Window = Window::Time(Duration::from_millis(500));

const fn point(load: Load, window: Window) -> Point {
    Point {
        label: None,
        load,
        window,
    }
}

fn phased(arrival: Arrival, phases: &[Phase], cap: NonZeroU32) -> Point {
    let open = Open {
        arrival,
        phases: phases.to_vec(),
        cap,
    };
    let window = Window::Time(open.duration());
    point(Load::Open(open), window)
}

fn rated(
    arrival: Arrival,
    rates: &[f64],
    cap: NonZeroU32,
    window: Window,
) -> Result<Vec<Point>, Problem> {
    if rates.is_empty() {
        return Err(Problem::Missing {
            table: "an open load",
            key: "rate, or a case with phases",
        });
    }
    let of = |rate: &f64| {
        let phase = Phase::constant(*rate, lasts(arrival, *rate, window)?)?;
        let open = Open {
            arrival,
            phases: vec![phase],
            cap,
        };
        Ok(Point {
            label: (rates.len() > 1).then(|| format!("rate={rate}")),
            ..point(Load::Open(open), window)
        })
    };
    rates.iter().map(of).collect()
}

/// How long a schedule has to be for its window. So many operations take a little longer than their
/// number over the rate: the last one has to be in it, and six standard deviations for independent starts.
fn lasts(arrival: Arrival, rate: f64, window: Window) -> Result<Duration, Problem> {
    let limit = window.limit();
    let operations = match (limit.operations, limit.nanos) {
        (Some(operations), _) => operations as f64,
        (None, nanos) => return Ok(Duration::from_nanos(nanos.unwrap_or(0))),
    };
    let spare = match arrival {
        Arrival::Poisson => 6.0 * operations.sqrt() + 10.0,
        _ => 1.0,
    };
    let time = Duration::try_from_secs_f64((operations + spare) / rate).ok();
    let time = time.filter(|time| *time <= LONGEST);
    time.ok_or_else(|| Problem::Range {
        field: "iterations over load.rate",
        least: "1ns".into(),
        most: format!("{LONGEST:?}").into(),
    })
}

/// Requests in flight that an operation's connections carry, and how it comes to that.
fn places(operation: &Operation) -> Option<(u32, (u32, u32))> {
    let Make::Service(shape) = operation.make else {
        return None;
    };
    let streams = if shape.http1 { 1 } else { shape.streams };
    Some((
        shape.connections.saturating_mul(streams),
        (shape.connections, streams),
    ))
}

/// A size as suites write it.
fn shown(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{}MiB", bytes / MIB),
        bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{}KiB", bytes / KIB),
        bytes => format!("{bytes}B"),
    }
}
