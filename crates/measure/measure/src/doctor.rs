//! What about a machine spoils measurements, why, and what to do about it.
//!
//! A finding says what was seen; what could not be read is no finding. Nothing is changed here, and
//! nothing is printed. A remedy is a sentence for a person who may decide that the machine stays as it is:
//! every fact behind a finding is in the result's record of the machine all the same.

use crate::machine::{Limit, Machine};
use crate::verdict::Word;

/// Something about a machine that makes its figures worth less.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data, read by every face")]
pub struct Finding {
    /// What it is about.
    pub subject: Subject,
    /// How much it matters.
    pub severity: Severity,
    /// What was seen.
    pub what: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// To be known when reading figures.
    Note,
    /// Figures vary more, or are somewhat off.
    Warning,
    /// Figures are not worth quoting.
    Problem,
}

impl Severity {
    /// As it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The program was built without optimisation, or with little.
    Build,
    /// The kernel's clock source.
    ClockSource,
    /// Core dumps may be written.
    CoreDumps,
    /// The control group grants less than the cores.
    CpuQuota,
    /// The most open files.
    FileLimit,
    /// The frequency governor.
    Governor,
    /// Others are at work.
    Load,
    /// The control group grants less than the memory.
    MemoryLimit,
    /// Something waits for a processor, for memory or for a disk.
    Pressure,
    /// Fewer cores are allowed than there are.
    Placement,
    /// One core for generator and server.
    SharedCore,
    /// Two threads to a core.
    Smt,
    /// Memory may go to a disk.
    Swap,
    /// The processor is hot.
    Temperature,
    /// The frequency depends on heat and on neighbours.
    Turbo,
    /// A hypervisor or a container.
    Virtualisation,
}

impl Subject {
    /// A stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::ClockSource => "clock-source",
            Self::CoreDumps => "core-dumps",
            Self::CpuQuota => "cpu-quota",
            Self::FileLimit => "file-limit",
            Self::Governor => "governor",
            Self::Load => "load",
            Self::MemoryLimit => "memory-limit",
            Self::Pressure => "pressure",
            Self::Placement => "placement",
            Self::SharedCore => "shared-core",
            Self::Smt => "smt",
            Self::Swap => "swap",
            Self::Temperature => "temperature",
            Self::Turbo => "turbo",
            Self::Virtualisation => "virtualisation",
        }
    }
}

/// How the measuring program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each kind is told apart")]
pub enum Build {
    /// Without optimisation, with checks for developers.
    Debug,
    /// For a first look: little optimised, so that it is compiled in minutes.
    Quick,
    /// With all optimisation.
    Release,
}

impl Build {
    /// The fact that results of such a build carry.
    #[must_use]
    pub const fn fact(self) -> Option<Word> {
        match self {
            Self::Debug => Some(Word::DebugBuild),
            Self::Quick => Some(Word::QuickBuild),
            Self::Release => None,
        }
    }
}

/// Fewest open files that a load of thousands of connections needs.
pub const FILE_LIMIT: u64 = 65_536;
/// The share of the cores that others may use before it is said.
const LOAD_SHARE: f64 = 0.10;
/// Degrees Celsius from which processors are slowed down sooner or later.
const HOT: f64 = 85.0;

/// Looks at a machine and at how this program was built: the weightiest findings first.
#[must_use]
pub fn examine(machine: &Machine, build: Build) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        little_optimised(build),
        shared_core(machine),
        quota(machine),
        placement(machine),
        load(machine),
        governor(machine),
        turbo(machine),
        smt(machine),
        clock_source(machine),
        swap(machine),
        memory_limit(machine),
        file_limit(machine),
        virtualisation(machine),
        temperature(machine),
        core_dumps(machine),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.extend(pressure(machine));
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.subject));
    findings
}

fn little_optimised(build: Build) -> Option<Finding> {
    let what = match build {
        Build::Debug => "this program was built without optimisation",
        Build::Quick => "this program was built for a first look, with little optimisation",
        Build::Release => return None,
    };
    Some(Finding {
        subject: Subject::Build,
        severity: Severity::Problem,
        what: what.to_owned(),
        why: "its own code, and with it every short operation, is many times slower",
        remedy: "build with --release",
    })
}

fn shared_core(machine: &Machine) -> Option<Finding> {
    (machine.cores() == Some(1)).then(|| Finding {
        subject: Subject::SharedCore,
        severity: Severity::Problem,
        what: "one core is all there is".to_owned(),
        why: "generator and server take turns on it, so the rate says how they share and not what either can do",
        remedy: "measure with two cores or more, or run the generator on another machine",
    })
}

fn quota(machine: &Machine) -> Option<Finding> {
    let quota = machine.cpu_quota?;
    let binds = machine
        .cores_allowed
        .or(machine.machine_cores)
        .is_none_or(|cores| quota < f64::from(cores));
    binds.then(|| Finding {
        subject: Subject::CpuQuota,
        severity: Severity::Problem,
        what: format!("the control group grants {quota:.2} cores' worth of time"),
        why: "when it is used up, everything stops until the next period, which shows as a tail of many milliseconds",
        remedy: "remove the quota for the time of the measurement; bind the process to cores instead",
    })
}

fn placement(machine: &Machine) -> Option<Finding> {
    let (allowed, all) = (machine.cores_allowed?, machine.machine_cores?);
    (allowed < all).then(|| Finding {
        subject: Subject::Placement,
        severity: Severity::Note,
        what: format!("this process may use {allowed} of {all} cores"),
        why: "others may use the rest, and the caches and memory that all of them share",
        remedy: "nothing, if it is meant so; figures carry both numbers",
    })
}

fn load(machine: &Machine) -> Option<Finding> {
    let (load, cores) = (machine.load_average?, machine.machine_cores?);
    (load > LOAD_SHARE * f64::from(cores)).then(|| Finding {
        subject: Subject::Load,
        severity: Severity::Warning,
        what: format!("the load average is {load:.2} on {cores} cores"),
        why: "what else runs takes time and caches away, at moments that nobody chooses",
        remedy: "stop what else runs and wait for a minute",
    })
}

fn governor(machine: &Machine) -> Option<Finding> {
    let governor = machine.governor.as_deref()?;
    (governor != "performance").then(|| Finding {
        subject: Subject::Governor,
        severity: Severity::Warning,
        what: format!("the frequency governor is {governor}"),
        why: "the frequency follows the load, so short or sparse operations run slower than dense ones",
        remedy: "cpupower frequency-set -g performance",
    })
}

fn turbo(machine: &Machine) -> Option<Finding> {
    (machine.turbo == Some(true)).then(|| Finding {
        subject: Subject::Turbo,
        severity: Severity::Note,
        what: "the processor may clock above its base frequency".to_owned(),
        why: "how far depends on heat and on how many cores are busy, so figures differ between one thread and many and between runs",
        remedy: "for comparisons turn it off: write 1 to intel_pstate/no_turbo or 0 to cpufreq/boost",
    })
}

fn smt(machine: &Machine) -> Option<Finding> {
    (machine.smt == Some(true)).then(|| Finding {
        subject: Subject::Smt,
        severity: Severity::Note,
        what: "two threads share a core".to_owned(),
        why: "a neighbour on the same core takes up to half of it, and scaling over threads bends where cores run out",
        remedy: "bind threads to different cores, or write off to smt/control",
    })
}

fn clock_source(machine: &Machine) -> Option<Finding> {
    let source = machine.clock_source.as_deref()?;
    // The counter of ARM is read without the kernel just as the TSC is.
    let cheap = matches!(source, "tsc" | "arch_sys_counter");
    (!cheap).then(|| Finding {
        subject: Subject::ClockSource,
        severity: Severity::Warning,
        what: format!("the clock source is {source}"),
        why: "reading it costs a call to the kernel or the hypervisor, up to a microsecond, so short operations are timed in larger batches",
        remedy: "if the processor has an invariant TSC, start the kernel with clocksource=tsc",
    })
}

fn swap(machine: &Machine) -> Option<Finding> {
    let bytes = machine.swap_bytes.filter(|bytes| *bytes > 0)?;
    let used = machine.swap_used_bytes.unwrap_or(0);
    Some(Finding {
        subject: Subject::Swap,
        severity: if used > 0 {
            Severity::Warning
        } else {
            Severity::Note
        },
        what: format!("{} MiB of swap, {} MiB in use", bytes >> 20, used >> 20),
        why: "an operation whose memory has gone to a disk takes milliseconds, and memory may leave the machine",
        remedy: "swapoff -a for the time of the measurement",
    })
}

fn memory_limit(machine: &Machine) -> Option<Finding> {
    let (limit, memory) = (machine.memory_limit_bytes?, machine.memory_bytes?);
    (limit < memory).then(|| Finding {
        subject: Subject::MemoryLimit,
        severity: Severity::Note,
        what: format!("the control group grants {} of {} MiB of memory", limit >> 20, memory >> 20),
        why: "near the limit the kernel takes pages back during operations, and beyond it ends the process",
        remedy: "raise the limit, or leave out operations of large memory",
    })
}

fn file_limit(machine: &Machine) -> Option<Finding> {
    let Limit::At(limit) = machine.file_limit? else {
        return None;
    };
    (limit < FILE_LIMIT).then(|| Finding {
        subject: Subject::FileLimit,
        severity: Severity::Warning,
        what: format!("at most {limit} files may be open"),
        why: "every connection is one at both ends; at the limit connections fail, and that looks like the server's fault",
        remedy: "ulimit -n 65536",
    })
}

fn virtualisation(machine: &Machine) -> Option<Finding> {
    let kind = machine.virtualisation()?;
    let beneath = machine.hypervisor == Some(true);
    Some(Finding {
        subject: Subject::Virtualisation,
        severity: if beneath {
            Severity::Warning
        } else {
            Severity::Note
        },
        what: kind,
        why: "neighbours that cannot be seen from here share processors, caches and disks",
        remedy: "repeat at other hours and compare, or measure on a machine of its own",
    })
}

fn temperature(machine: &Machine) -> Option<Finding> {
    let degrees = machine
        .temperature_celsius
        .filter(|degrees| *degrees >= HOT)?;
    Some(Finding {
        subject: Subject::Temperature,
        severity: Severity::Warning,
        what: format!("the hottest sensor shows {degrees:.0} degrees Celsius"),
        why: "a hot processor slows itself down, later runs more than earlier ones",
        remedy: "let it cool, mend the cooling, or rest between runs",
    })
}

fn core_dumps(machine: &Machine) -> Option<Finding> {
    let size = machine.core_dumps.filter(|limit| *limit != Limit::At(0))?;
    Some(Finding {
        subject: Subject::CoreDumps,
        severity: Severity::Note,
        what: format!("core dumps are allowed ({size} bytes)"),
        why: "a crash would write memory with keys to a disk",
        remedy: "ulimit -c 0",
    })
}

fn pressure(machine: &Machine) -> Vec<Finding> {
    let kinds = [
        ("a processor", machine.cpu_pressure_percent),
        ("memory", machine.memory_pressure_percent),
        ("input or output", machine.io_pressure_percent),
    ];
    let waiting = kinds.into_iter().filter_map(|(kind, share)| {
        share
            .filter(|share| *share > 0.0)
            .map(|share| (kind, share))
    });
    waiting
        .map(|(kind, share)| Finding {
            subject: Subject::Pressure,
            severity: Severity::Warning,
            what: format!("in {share:.2} % of the last ten seconds something waited for {kind}"),
            why: "whatever waits may be the generator or the target, and the wait lands in their figures",
            remedy: "find it with top or iotop and stop it",
        })
        .collect()
}
