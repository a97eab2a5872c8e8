//! `bench op`: operations by their names, in turns.

use keywright_clock::Clock;
use keywright_measure::carry::Carrier;
use keywright_measure::document::Case;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::Entry;
use keywright_targets::operation::{AnyCarrier, Operation};
use keywright_targets::store::{Settings, development};
use keywright_targets::suite::nearest;
use keywright_targets::workshop::{Places, StorePlace, Workshop};

use super::flags::{JudgeFlags, LoadFlags, MeasureFlags, TargetFlags, parameters};
use super::sitting::{Sitting, unmeasurable};
use super::work::Work;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Measure operations by their names.
#[derive(Debug, clap::Args)]
pub(super) struct OpArguments {
    /// Names of operations, as `bench list ops` prints them; several take turns.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// A bench with a workshop and the folder that it works in.
pub(super) struct Bench {
    pub(super) workshop: Workshop,
    targets: TargetFlags,
    // After the workshop, so that servers have ended when their homes go.
    _work: Work,
}

impl Bench {
    pub(super) fn new(sitting: &Sitting, targets: &TargetFlags) -> Result<Self, Failure> {
        let work = Work::prepare(targets.work.as_deref())?;
        let workshop = workshop(&sitting.clock, sitting.seed, targets, &work)?;
        let timer = workshop.timer();
        sitting.calibrated(keywright_measure::document::Calibration {
            timer_resolution_ns: timer.resolution_ns(),
            timer_cost_ps: timer.cost_picos(),
            ..Default::default()
        });
        Ok(Self {
            workshop,
            targets: targets.clone(),
            _work: work,
        })
    }

    /// A plan and what carries it.
    pub(super) fn ready(
        &self,
        sitting: &Sitting,
        operation: &Operation,
        load: &LoadFlags,
        judging: &JudgeFlags,
    ) -> Result<(CasePlan, AnyCarrier), Failure> {
        let operation = &self.targets.shaped(operation);
        let mut plan = Workshop::plan(operation);
        load.apply(&mut plan, Workshop::natural(operation))?;
        judging.apply(&mut plan);
        plan.parameters.extend(parameters(load));
        let carrier = self.workshop.carrier(operation, &plan.load);
        let carrier = carrier.map_err(|error| unmeasurable(&error))?;
        let ceiling = self.workshop.ceiling(operation, &plan.load);
        plan.ceiling_per_s = ceiling.map_err(|error| unmeasurable(&error))?;
        if let Some(ceiling) = plan.ceiling_per_s {
            sitting.ceiling(operation.name, ceiling);
        }
        Ok((plan, carrier))
    }
}

/// A variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Which secret store the flags name.
fn store(targets: &TargetFlags) -> Result<StorePlace, Failure> {
    let Some(named) = &targets.store else {
        return Ok(StorePlace::StandIn);
    };
    if named == "dev" {
        #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = development::find(&path).ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                "neither bao nor vault is on PATH",
                "install one of them, or give an address: --store https://HOST:8200",
            )
        })?;
        return Ok(StorePlace::Development(program));
    }
    let (Some(token), Some(ca)) = (&targets.store_token_file, &targets.store_ca) else {
        return Err(Failure::new(
            Exit::Usage,
            "a store at an address needs a token and a certificate authority",
            "add --store-token-file FILE and --store-ca FILE",
        ));
    };
    let read = |path: &std::path::Path| {
        std::fs::read(path).map_err(|error| Failure::file(path, "read", &error))
    };
    let mut secret = read(token)?;
    secret.truncate(secret.trim_ascii_end().len());
    let token = keywright_secret::SecretBytes::from_vec(secret);
    Ok(StorePlace::At(Settings::new(
        "store",
        named,
        token,
        &read(ca)?,
    )))
}

/// A workshop in `work` whose servers are this program.
pub(super) fn workshop(
    clock: &Clock,
    seed: u64,
    targets: &TargetFlags,
    work: &Work,
) -> Result<Workshop, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
    let places = Places {
        seed,
        folder: work.folder().to_owned(),
        program: Some(program),
        server_cpu: targets.server_cpu,
        floor: targets.floor.clone(),
        store: store(targets)?,
        lookup: variable,
    };
    Ok(Workshop::new(clock.clone(), places))
}

/// The operation of this name, or the names that are nearest to it.
pub(super) fn find(name: &str) -> Result<&'static Operation, Failure> {
    Workshop::find(name).ok_or_else(|| {
        let names = Workshop::operations().map(|operation| operation.name);
        let near = nearest(name, names, 3);
        let advice = if near.is_empty() {
            "see `keywright bench list ops`".to_owned()
        } else {
            format!(
                "did you mean {}? see `keywright bench list ops`",
                near.join(" or ")
            )
        };
        Failure::new(
            Exit::NotFound,
            format!("no operation is called {name}"),
            advice,
        )
    })
}

pub(super) fn run(arguments: &OpArguments, format: Format) -> Result<Exit, Failure> {
    let operations = arguments.names.iter().map(|name| find(name));
    let operations = operations.collect::<Result<Vec<_>, _>>()?;
    let (sitting, cases) = measured(&operations, &arguments.flags, format)?;
    sitting.finish(cases, Some(&arguments.flags.judging))
}

/// Measures operations in turns, as the flags say; what came of it is not judged yet.
pub(super) fn measured(
    operations: &[&Operation],
    flags: &MeasureFlags,
    format: Format,
) -> Result<(Sitting, Vec<Case>), Failure> {
    let MeasureFlags {
        load,
        judging,
        targets,
        output,
    } = flags;
    let sitting = Sitting::begin(output, judging, format, load.seed, load.runs())?;
    let bench = Bench::new(&sitting, targets)?;
    let ready = operations
        .iter()
        .map(|operation| bench.ready(&sitting, operation, load, judging));
    let ready = ready.collect::<Result<Vec<_>, _>>()?;
    let cases = in_turns(&sitting, load, ready)?;
    Ok((sitting, cases))
}

/// Measures plans with their carriers, in turns.
pub(super) fn in_turns(
    sitting: &Sitting,
    load: &LoadFlags,
    mut ready: Vec<(CasePlan, AnyCarrier)>,
) -> Result<Vec<Case>, Failure> {
    let mut entries: Vec<Entry<'_>> = ready
        .iter_mut()
        .map(|(plan, carrier)| Entry {
            plan: plan.clone(),
            carrier: carrier as &mut dyn Carrier,
        })
        .collect();
    sitting.measure(&load.pace(), &mut entries)
}
