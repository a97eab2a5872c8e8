//! From flags to what is ready to be measured: a workshop in a folder, plans, and carriers for them.

use std::num::NonZeroU32;

use keywright_clock::Clock;
use keywright_measure::plan::CasePlan;
use keywright_targets::operation::{AnyCarrier, Operation};
use keywright_targets::pinning::Core;
use keywright_targets::store::{Settings, development};
use keywright_targets::suite::{Instance, Tls, Work};
use keywright_targets::workshop::{Places, StorePlace, Workshop};

use super::flags::{JudgeFlags, LoadFlags, TargetFlags, parameters};
use super::remote;
use super::sitting::{Sitting, unmeasurable};
use super::work::Work as Folder;
use crate::dispatch;
use crate::exit::{Exit, Failure};

/// An operation, and what it is called in the result.
pub(super) struct Chosen {
    pub(super) operation: Operation,
    pub(super) id: String,
}

impl From<&Operation> for Chosen {
    fn from(operation: &Operation) -> Self {
        Self {
            operation: *operation,
            id: operation.name.to_owned(),
        }
    }
}

/// A bench with a workshop and the folder that it works in.
pub(super) struct Bench {
    pub(super) workshop: Workshop,
    targets: TargetFlags,
    // After the workshop, so that servers have ended when their homes go.
    _work: Folder,
}

impl Bench {
    pub(super) fn new(sitting: &Sitting, targets: &TargetFlags) -> Result<Self, Failure> {
        if let Some(url) = &targets.addr {
            remote::allowed(url, targets)?;
        }
        if let Some(url) = targets.store.as_ref().filter(|store| *store != "dev") {
            remote::allowed(url, targets)?;
        }
        let work = Folder::prepare(targets.work.as_deref())?;
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

    /// A bench for the operations of a token.
    pub(super) fn on_token(
        sitting: &Sitting,
        token: &std::sync::Arc<keywright_targets::token::Opened>,
    ) -> Result<Self, Failure> {
        let mut bench = Self::new(sitting, &TargetFlags::default())?;
        bench.workshop = bench.workshop.with_token(std::sync::Arc::clone(token));
        Ok(bench)
    }

    /// A plan and what carries it.
    pub(super) fn ready(
        &self,
        sitting: &Sitting,
        chosen: &Chosen,
        load: &LoadFlags,
        judging: &JudgeFlags,
    ) -> Result<(CasePlan, AnyCarrier), Failure> {
        let operation = &self.targets.shaped(&chosen.operation);
        let mut plan = planned(chosen, operation, load, judging)?;
        let said = self.workshop.parameters([operation], &plan.load);
        plan.parameters.extend(said);
        let carrier = match load.processes.get() {
            1 => self.workshop.carrier(operation, &plan.load),
            _ => self
                .workshop
                .processes(&[(*operation, 1.0)], load.processes, &plan.load),
        };
        let carrier = carrier.map_err(|error| unmeasurable(&error))?;
        let ceiling = self.workshop.ceiling(operation, &plan.load);
        plan.ceiling_per_s = ceiling.map_err(|error| unmeasurable(&error))?;
        if let Some(ceiling) = plan.ceiling_per_s {
            sitting.ceiling(operation.name, ceiling);
        }
        Ok((plan, carrier))
    }

    /// A plan for operations of this process by weight, and what carries it.
    pub(super) fn mixed(
        &self,
        parts: &[(Operation, f64)],
        load: &LoadFlags,
        judging: &JudgeFlags,
    ) -> Result<(CasePlan, AnyCarrier), Failure> {
        let mut plan = mix_planned(parts, load, judging)?;
        let operations = parts.iter().map(|(operation, _)| operation);
        let said = self.workshop.parameters(operations, &plan.load);
        plan.parameters.extend(said);
        let carrier = match load.processes.get() {
            1 => self.workshop.mix(parts, &plan.load),
            _ => self.workshop.processes(parts, load.processes, &plan.load),
        };
        let carrier = carrier.map_err(|error| unmeasurable(&error))?;
        Ok((plan, carrier))
    }
}

pub(super) fn planned(
    chosen: &Chosen,
    operation: &Operation,
    load: &LoadFlags,
    judging: &JudgeFlags,
) -> Result<CasePlan, Failure> {
    let mut plan = Workshop::plan(operation);
    plan.id.clone_from(&chosen.id);
    load.apply(&mut plan, Workshop::natural(operation))?;
    judging.apply(&mut plan);
    plan.parameters.extend(parameters(load));
    if plan.id != operation.name {
        plan.parameters
            .insert("size_bytes".to_owned(), operation.bytes.to_string());
    }
    Ok(plan)
}

pub(super) fn mix_planned(
    parts: &[(Operation, f64)],
    load: &LoadFlags,
    judging: &JudgeFlags,
) -> Result<CasePlan, Failure> {
    let mut plan = Work::Mix(parts.to_vec()).plan("local");
    load.apply(&mut plan, NonZeroU32::MIN)?;
    judging.apply(&mut plan);
    plan.parameters.extend(parameters(load));
    Ok(plan)
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

/// The running service that the flags name.
fn service(targets: &TargetFlags) -> Option<Instance> {
    Some(Instance::Running {
        url: targets.addr.clone()?,
        tls: Tls {
            ca: targets.cacert.clone(),
            cert: targets.cert.clone(),
            key: targets.key.clone(),
        },
        context: targets.context.clone(),
        tenants: Vec::new(),
    })
}

/// The core that operations in this process are kept on.
fn local_cpu(targets: &TargetFlags) -> Result<Option<Core>, Failure> {
    let core = targets.local_cpu.map(Core::of).transpose();
    core.map_err(|error| {
        Failure::new(
            Exit::Usage,
            error.to_string(),
            "name another with --local-cpu",
        )
    })
}

/// A workshop in `work` whose servers are `keywright` beside this program, or the one that was named.
pub(super) fn workshop(
    clock: &Clock,
    seed: u64,
    targets: &TargetFlags,
    work: &Folder,
) -> Result<Workshop, Failure> {
    // Why there is none is said when an operation needs it.
    let program = match &targets.program {
        Some(program) => Some(program.clone()),
        None => dispatch::find(dispatch::KEYWRIGHT).ok(),
    };
    let places = Places {
        seed,
        folder: work.folder().to_owned(),
        program,
        server_cpu: targets.server_cpu,
        local_cpu: local_cpu(targets)?,
        fpe_backend: crate::fpe::backend()?,
        floor: targets.floor.clone(),
        store: store(targets)?,
        lookup: variable,
    };
    let workshop = Workshop::new(clock.clone(), places);
    Ok(match service(targets) {
        Some(instance) => workshop.with_service(instance),
        None => workshop,
    })
}
