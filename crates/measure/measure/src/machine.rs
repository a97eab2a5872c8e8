//! What the machine is and how it is set up, as far as Linux tells under `/proc` and `/sys`.
//!
//! An entry that is missing, unreadable or not understood is absent: nothing is guessed, and nothing here
//! fails. All of it is read below a root folder that the caller names, `/` outside of tests. Files are
//! read up to a bound, and what ends up in a document is cut to a length and has no control characters.
//!
//! Not here: what the findings mean ([`crate::doctor`]), and anything that changes during a run.

mod control_group;
mod entries;
mod processor;

use std::collections::BTreeMap;
use std::path::Path;

use crate::document::Environment;
use control_group::ControlGroup;
use entries::Entries;

/// A machine, and this process on it. Absent is what the system does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data; made by literal updates of its default"
)]
pub struct Machine {
    /// Operating system and version.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processor features that matter to cryptography and to timing, in alphabetical order.
    pub cpu_features: Vec<String>,
    /// Whether the processor says that a hypervisor runs beneath it.
    pub hypervisor: Option<bool>,
    /// What the firmware calls the machine.
    pub product: Option<String>,
    /// The kind of container this process runs in.
    pub container: Option<String>,
    /// Cores that the scheduler may place this process on.
    pub cores_allowed: Option<u32>,
    /// Cores' worth of time that the control group grants; absent where there is no quota.
    pub cpu_quota: Option<f64>,
    /// Cores of the machine that are online.
    pub machine_cores: Option<u32>,
    /// Memory of the machine, in bytes.
    pub memory_bytes: Option<u64>,
    /// Memory that the control group grants, in bytes; absent where there is no limit.
    pub memory_limit_bytes: Option<u64>,
    /// Swap space, in bytes.
    pub swap_bytes: Option<u64>,
    /// Swap space in use, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Frequency governors in use, in alphabetical order, with `, ` between them.
    pub governor: Option<String>,
    /// Whether the processor may clock above its base frequency.
    pub turbo: Option<bool>,
    /// Whether two threads share a core.
    pub smt: Option<bool>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// Load average over one minute.
    pub load_average: Option<f64>,
    /// Most files this process may have open.
    pub file_limit: Option<Limit>,
    /// Largest core dump this process may leave, in bytes.
    pub core_dumps: Option<Limit>,
    /// Share of the last ten seconds in which something waited for a processor, in percent.
    pub cpu_pressure_percent: Option<f64>,
    /// The same for memory.
    pub memory_pressure_percent: Option<f64>,
    /// The same for input and output.
    pub io_pressure_percent: Option<f64>,
    /// The hottest sensor, in degrees Celsius.
    pub temperature_celsius: Option<f64>,
}

/// A limit of the system on this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a limit is a number or none")]
pub enum Limit {
    /// At most this.
    At(u64),
    /// As much as there is.
    Unlimited,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(most) => write!(out, "{most}"),
            Self::Unlimited => out.write_str("unlimited"),
        }
    }
}

impl Machine {
    /// Reads what stands below `root`, which is `/` outside of tests.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let entries = Entries::new(root);
        let info = entries.text("proc/cpuinfo");
        let group = ControlGroup::read(&entries);
        let mut machine = Self {
            os: operating_system(&entries),
            kernel: entries.word("proc/sys/kernel/osrelease"),
            product: entries.word("sys/class/dmi/id/product_name"),
            container: group.container(&entries),
            cores_allowed: cores_allowed(&entries),
            cpu_quota: group.cpu_quota(&entries),
            machine_cores: processor::cores(&entries, info.as_deref()),
            memory_limit_bytes: group.memory_limit(&entries),
            governor: processor::governor(&entries),
            turbo: processor::turbo(&entries),
            smt: entries.switch("sys/devices/system/cpu/smt/active"),
            clock_source: entries
                .word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            load_average: load_average(&entries),
            cpu_pressure_percent: pressure(&entries, "cpu"),
            memory_pressure_percent: pressure(&entries, "memory"),
            io_pressure_percent: pressure(&entries, "io"),
            temperature_celsius: temperature(&entries),
            ..Self::default()
        };
        machine.read_memory(&entries);
        machine.read_limits(&entries);
        if let Some(info) = info {
            machine.cpu = processor::model(&info);
            machine.cpu_features = processor::features(&info);
            machine.hypervisor = processor::hypervisor(&info);
        }
        machine
    }

    fn read_memory(&mut self, entries: &Entries<'_>) {
        let Some(text) = entries.text("proc/meminfo") else {
            return;
        };
        self.memory_bytes = kibibytes(&text, "MemTotal");
        self.swap_bytes = kibibytes(&text, "SwapTotal");
        let free = kibibytes(&text, "SwapFree");
        self.swap_used_bytes = self
            .swap_bytes
            .zip(free)
            .and_then(|(total, free)| total.checked_sub(free));
    }

    fn read_limits(&mut self, entries: &Entries<'_>) {
        if let Some(text) = entries.text("proc/self/limits") {
            self.file_limit = soft_limit(&text, "Max open files");
            self.core_dumps = soft_limit(&text, "Max core file size");
        }
    }

    /// Cores' worth of time this process may use: by placement and by quota, rounded down, one at least.
    #[must_use]
    pub fn cores(&self) -> Option<u32> {
        let placed = self.cores_allowed.or(self.machine_cores)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float outside of the range becomes its end, and the smaller number counts"
        )]
        let granted = self.cpu_quota.map_or(u32::MAX, |quota| quota as u32);
        Some(placed.min(granted).max(1))
    }

    /// In the form of a document. Where the system does not say how many cores there are, the number that
    /// the standard library finds for this process stands in; other missing texts are empty.
    ///
    /// What the document's fields have no place for stands among its facts under `machine`.
    #[must_use]
    pub fn environment(&self) -> Environment {
        let found = std::thread::available_parallelism().ok();
        let found = found.and_then(|count| u32::try_from(count.get()).ok());
        let facts = self.facts();
        let targets = (!facts.is_empty()).then(|| ("machine".to_owned(), facts));
        Environment {
            os: self.os.clone().unwrap_or_default(),
            kernel: self.kernel.clone().unwrap_or_default(),
            cpu: self.cpu.clone().unwrap_or_default(),
            cpu_features: self.cpu_features.clone(),
            cores: self.cores().or(found).unwrap_or_default(),
            machine_cores: self.machine_cores.or(found).unwrap_or_default(),
            memory_bytes: self.memory_bytes.unwrap_or_default(),
            governor: self.governor.clone(),
            smt: self.smt,
            virtualisation: self.virtualisation(),
            clock_source: self.clock_source.clone(),
            load_average: self.load_average,
            targets: targets.into_iter().collect(),
        }
    }

    /// What kind of virtual machine and container this is, where it is one.
    #[must_use]
    pub fn virtualisation(&self) -> Option<String> {
        let virtual_machine = (self.hypervisor == Some(true)).then(|| match &self.product {
            Some(product) => format!("virtual machine ({product})"),
            None => "virtual machine".to_owned(),
        });
        let container = self
            .container
            .as_ref()
            .map(|kind| format!("container ({kind})"));
        let both: Vec<String> = virtual_machine.into_iter().chain(container).collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let on = |switch: bool| if switch { "on" } else { "off" }.to_owned();
        let percent = |share: f64| format!("{share} %");
        let facts = [
            ("product", self.product.clone()),
            ("turbo", self.turbo.map(on)),
            ("cpu_quota", self.cpu_quota.map(|quota| format!("{quota}"))),
            (
                "memory_limit_bytes",
                self.memory_limit_bytes.map(|most| most.to_string()),
            ),
            ("swap_bytes", self.swap_bytes.map(|bytes| bytes.to_string())),
            (
                "swap_used_bytes",
                self.swap_used_bytes.map(|bytes| bytes.to_string()),
            ),
            ("file_limit", self.file_limit.map(|limit| limit.to_string())),
            ("core_dumps", self.core_dumps.map(|limit| limit.to_string())),
            ("cpu_pressure", self.cpu_pressure_percent.map(percent)),
            ("memory_pressure", self.memory_pressure_percent.map(percent)),
            ("io_pressure", self.io_pressure_percent.map(percent)),
            (
                "temperature_celsius",
                self.temperature_celsius.map(|degrees| degrees.to_string()),
            ),
        ];
        facts
            .into_iter()
            .filter_map(|(name, fact)| Some((name.to_owned(), fact?)))
            .collect()
    }
}

fn operating_system(entries: &Entries<'_>) -> Option<String> {
    let release = entries
        .text("etc/os-release")
        .or_else(|| entries.text("usr/lib/os-release"))?;
    let line = |key: &str| {
        let mut lines = release.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        entries::printable(value.trim().trim_matches(['"', '\'']))
    };
    line("PRETTY_NAME").or_else(|| line("NAME"))
}

fn cores_allowed(entries: &Entries<'_>) -> Option<u32> {
    let status = entries.text("proc/self/status")?;
    let list = entries::field(&status, "Cpus_allowed_list")?;
    entries::count_of_list(list)
}

fn load_average(entries: &Entries<'_>) -> Option<f64> {
    let text = entries.text("proc/loadavg")?;
    entries::amount(text.split_whitespace().next()?)
}

/// From `some avg10=1.23 avg60=...`: the share of time in which at least one task waited.
fn pressure(entries: &Entries<'_>, what: &str) -> Option<f64> {
    let text = entries.text(&format!("proc/pressure/{what}"))?;
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let share = some
        .split_whitespace()
        .find_map(|word| word.strip_prefix("avg10="))?;
    entries::amount(share).filter(|share| *share <= 100.0)
}

fn temperature(entries: &Entries<'_>) -> Option<f64> {
    let zones = entries.children("sys/class/thermal", "thermal_zone");
    zones
        .iter()
        .filter_map(|zone| entries.word(&format!("{zone}/temp"))?.parse::<i32>().ok())
        .map(|thousandths| f64::from(thousandths) / 1000.0)
        .reduce(f64::max)
}

fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let value = entries::field(text, key)?.strip_suffix("kB")?;
    value.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The first figure behind the name: limits are printed soft, hard, unit.
fn soft_limit(text: &str, name: &str) -> Option<Limit> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(Limit::Unlimited),
        figure => figure.parse().ok().map(Limit::At),
    }
}
