//! A machine is read from a tree of files: what is there is told, what is not is absent, and no content
//! of a file makes it fail.
#![expect(
    clippy::unwrap_used,
    reason = "what fails here is a failed test, in the functions that tests share as well"
)]

use std::path::Path;

use keywright_measure::doctor::{self, Build, Finding, Severity, Subject};
use keywright_measure::machine::{Limit, Machine};
use keywright_mutate::mutations;
use tempfile::TempDir;

const CPUINFO: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Example CPU @ 2.00GHz\n\
flags\t\t: fpu tsc aes avx avx2 avx512f sha_ni vaes vpclmulqdq gfni hypervisor\n\n\
processor\t: 1\nmodel name\t: Example CPU @ 2.00GHz\nflags\t\t: fpu\n";

const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
Max core file size        unlimited            unlimited            bytes\n\
Max open files            1024                 524288               files\n";

/// A virtual machine with everything that spoils figures.
const SPOILED: &[(&str, &str)] = &[
    (
        "etc/os-release",
        "NAME=\"Example\"\nPRETTY_NAME=\"Example OS 12\"\n",
    ),
    ("proc/sys/kernel/osrelease", "6.1.0-example\n"),
    ("proc/cpuinfo", CPUINFO),
    (
        "proc/meminfo",
        "MemTotal:  8388608 kB\nSwapTotal: 2097152 kB\nSwapFree:  1048576 kB\n",
    ),
    ("proc/loadavg", "1.50 0.70 0.30 2/345 6789\n"),
    (
        "proc/pressure/cpu",
        "some avg10=3.21 avg60=1.00 avg300=0.10 total=1\nfull avg10=0.00\n",
    ),
    (
        "proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    ),
    (
        "proc/pressure/io",
        "some avg10=0.40 avg60=0.00 avg300=0.00 total=9\n",
    ),
    (
        "proc/self/status",
        "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n",
    ),
    ("proc/self/limits", LIMITS),
    ("proc/self/cgroup", "0::/kubepods/pod1\n"),
    ("sys/fs/cgroup/kubepods/cpu.max", "350000 100000\n"),
    ("sys/fs/cgroup/kubepods/pod1/cpu.max", "150000 100000\n"),
    ("sys/fs/cgroup/kubepods/pod1/memory.max", "1073741824\n"),
    ("sys/class/dmi/id/product_name", "Example Cloud\n"),
    ("sys/class/thermal/thermal_zone0/temp", "41000\n"),
    ("sys/class/thermal/thermal_zone12/temp", "91500\n"),
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("sys/devices/system/cpu/smt/active", "1\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpufreq/scaling_governor",
        "not a core's\n",
    ),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "kvm-clock\n",
    ),
];

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        write(root.path(), path, text.as_bytes());
    }
    root
}

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn machine(files: &[(&str, &str)]) -> Machine {
    Machine::read(tree(files).path())
}

fn quiet() -> Machine {
    Machine {
        cpu: Some("Example".to_owned()),
        cores_allowed: Some(8),
        machine_cores: Some(8),
        memory_bytes: Some(1 << 34),
        swap_bytes: Some(0),
        swap_used_bytes: Some(0),
        governor: Some("performance".to_owned()),
        turbo: Some(false),
        smt: Some(false),
        hypervisor: Some(false),
        clock_source: Some("tsc".to_owned()),
        load_average: Some(0.8),
        file_limit: Some(Limit::At(65_536)),
        core_dumps: Some(Limit::At(0)),
        cpu_pressure_percent: Some(0.0),
        memory_pressure_percent: Some(0.0),
        io_pressure_percent: Some(0.0),
        temperature_celsius: Some(50.0),
        ..Machine::default()
    }
}

#[test]
fn every_entry_of_a_tree_is_read() {
    let machine = machine(SPOILED);
    assert_eq!(machine.os.as_deref(), Some("Example OS 12"));
    assert_eq!(machine.kernel.as_deref(), Some("6.1.0-example"));
    assert_eq!(machine.cpu.as_deref(), Some("Example CPU @ 2.00GHz"));
    assert_eq!(
        machine.cpu_features,
        [
            "aes",
            "avx",
            "avx2",
            "avx512f",
            "gfni",
            "sha_ni",
            "vaes",
            "vpclmulqdq"
        ]
    );
    assert_eq!(machine.hypervisor, Some(true));
    assert_eq!(machine.product.as_deref(), Some("Example Cloud"));
    assert_eq!(machine.container.as_deref(), Some("kubernetes"));
    assert_eq!(
        (machine.cores_allowed, machine.machine_cores),
        (Some(4), Some(8))
    );
    assert_eq!(machine.cpu_quota, Some(1.5));
    assert_eq!(machine.cores(), Some(1));
    assert_eq!(machine.memory_bytes, Some(8 << 30));
    assert_eq!(machine.memory_limit_bytes, Some(1 << 30));
    assert_eq!(machine.swap_bytes, Some(2 << 30));
    assert_eq!(machine.swap_used_bytes, Some(1 << 30));
    assert_eq!(machine.governor.as_deref(), Some("performance, powersave"));
    assert_eq!((machine.turbo, machine.smt), (Some(true), Some(true)));
    assert_eq!(machine.clock_source.as_deref(), Some("kvm-clock"));
    assert_eq!(machine.load_average, Some(1.5));
    assert_eq!(machine.file_limit, Some(Limit::At(1024)));
    assert_eq!(machine.core_dumps, Some(Limit::Unlimited));
    assert_eq!(machine.cpu_pressure_percent, Some(3.21));
    assert_eq!(machine.memory_pressure_percent, Some(0.0));
    assert_eq!(machine.temperature_celsius, Some(91.5));
}

#[test]
fn an_empty_tree_tells_nothing_and_nothing_is_found() {
    let empty = machine(&[]);
    assert_eq!(empty, Machine::default());
    assert_eq!(doctor::examine(&empty, Build::Release), []);
    let environment = empty.environment();
    assert!(
        environment.cores > 0,
        "the standard library knows the cores of this process"
    );
    assert_eq!(environment.governor, None);
    assert!(environment.targets.is_empty());
}

#[test]
fn a_document_gets_what_was_read_and_facts_without_a_field_of_their_own() {
    let environment = machine(SPOILED).environment();
    assert_eq!((environment.cores, environment.machine_cores), (1, 8));
    assert_eq!(
        environment.virtualisation.as_deref(),
        Some("virtual machine (Example Cloud), container (kubernetes)")
    );
    let facts = &environment.targets["machine"];
    assert_eq!(facts["turbo"], "on");
    assert_eq!(facts["file_limit"], "1024");
    assert_eq!(facts["core_dumps"], "unlimited");
    assert_eq!(facts["swap_used_bytes"], "1073741824");
    assert_eq!(facts["io_pressure"], "0.4 %");
}

#[test]
fn the_older_trees_of_control_groups_are_read_where_they_are_mounted() {
    let text = "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n";
    let machine = machine(&[
        ("proc/self/cgroup", text),
        ("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        (
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
    ]);
    assert_eq!(machine.cpu_quota, Some(0.5));
    assert_eq!(machine.memory_limit_bytes, None);
    assert_eq!(machine.container, None);
}

#[test]
fn what_is_not_understood_is_absent_and_never_zero() {
    let machine = machine(&[
        ("proc/cpuinfo", "model name\nflags\n"),
        (
            "proc/meminfo",
            "MemTotal: 18446744073709551615 kB\nSwapTotal: 1 kB\nSwapFree: 2 kB\n",
        ),
        ("proc/loadavg", "-1 x\n"),
        ("proc/pressure/cpu", "some avg10=1000 avg60=0\n"),
        ("proc/pressure/io", "full avg10=1.0\n"),
        ("proc/self/status", "Cpus_allowed_list: 3-1\n"),
        ("proc/self/limits", "Max open files   many   many   files\n"),
        ("proc/self/cgroup", "0::/../../../etc\nrubbish\n"),
        ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ("sys/devices/system/cpu/online", "all\n"),
        ("sys/devices/system/cpu/smt/active", "notsupported\n"),
        ("sys/devices/system/cpu/cpufreq/boost", "2\n"),
        ("sys/class/thermal/thermal_zone0/temp", "hot\n"),
        ("sys/class/dmi/id/product_name", "\n"),
    ]);
    let expected = Machine {
        swap_bytes: Some(1024),
        ..Machine::default()
    };
    assert_eq!(machine, expected);
}

#[test]
fn foreign_bytes_in_any_entry_make_nothing_fail() {
    let seeds: Vec<&[u8]> = SPOILED.iter().map(|(_, text)| text.as_bytes()).collect();
    let root = tree(SPOILED);
    let mut all = mutations(&seeds, 3000, 0x6d61_6368);
    for _ in 0..(3000 / SPOILED.len()) {
        for (path, _) in SPOILED {
            let Some(bytes) = all.next() else { continue };
            write(root.path(), path, &bytes);
        }
        let machine = Machine::read(root.path());
        let environment = machine.environment();
        assert!(!environment.cpu.contains('\u{1b}') && environment.cpu.len() <= 800);
        for finding in doctor::examine(&machine, Build::Debug) {
            assert!(!finding.what.is_empty());
        }
    }
}

#[test]
fn folders_in_the_place_of_files_are_absent() {
    let root = TempDir::new().unwrap();
    for (path, _) in SPOILED {
        std::fs::create_dir_all(root.path().join(path)).unwrap();
    }
    assert_eq!(Machine::read(root.path()), Machine::default());
}

#[test]
fn this_machine_is_read_without_harm() {
    let machine = Machine::read(Path::new("/"));
    let environment = machine.environment();
    assert!(environment.cores > 0);
    assert!(machine.cores().is_none_or(|cores| cores > 0));
}

fn subjects(findings: &[Finding]) -> Vec<Subject> {
    findings.iter().map(|finding| finding.subject).collect()
}

#[test]
fn a_quiet_machine_has_no_findings() {
    assert_eq!(doctor::examine(&quiet(), Build::Release), []);
}

#[test]
fn a_spoiled_machine_has_every_finding_and_the_weightiest_come_first() {
    let findings = doctor::examine(&machine(SPOILED), Build::Debug);
    let expected = [
        Subject::Build,
        Subject::CpuQuota,
        Subject::SharedCore,
        Subject::ClockSource,
        Subject::FileLimit,
        Subject::Governor,
        Subject::Load,
        Subject::Pressure,
        Subject::Pressure,
        Subject::Swap,
        Subject::Temperature,
        Subject::Virtualisation,
        Subject::CoreDumps,
        Subject::MemoryLimit,
        Subject::Placement,
        Subject::Smt,
        Subject::Turbo,
    ];
    assert_eq!(subjects(&findings), expected);
    assert!(findings.is_sorted_by_key(|finding| std::cmp::Reverse(finding.severity)));
    for finding in &findings {
        assert!(!finding.why.is_empty() && !finding.remedy.is_empty());
        assert!(!finding.what.ends_with('.') && !finding.subject.name().is_empty());
    }
    let load = findings
        .iter()
        .find(|finding| finding.subject == Subject::Load);
    assert_eq!(load.unwrap().what, "the load average is 1.50 on 8 cores");
}

type Change = fn(&mut Machine);

/// One change to a quiet machine, and the one finding that follows.
const CHANGES: [(Change, Subject, Severity); 14] = [
    (
        |m| m.governor = Some("schedutil".to_owned()),
        Subject::Governor,
        Severity::Warning,
    ),
    (|m| m.turbo = Some(true), Subject::Turbo, Severity::Note),
    (|m| m.smt = Some(true), Subject::Smt, Severity::Note),
    (
        |m| m.load_average = Some(0.81),
        Subject::Load,
        Severity::Warning,
    ),
    (
        |m| m.swap_bytes = Some(1 << 20),
        Subject::Swap,
        Severity::Note,
    ),
    (
        |m| m.file_limit = Some(Limit::At(65_535)),
        Subject::FileLimit,
        Severity::Warning,
    ),
    (
        |m| m.hypervisor = Some(true),
        Subject::Virtualisation,
        Severity::Warning,
    ),
    (
        |m| m.container = Some("docker".to_owned()),
        Subject::Virtualisation,
        Severity::Note,
    ),
    (
        |m| m.cpu_quota = Some(7.5),
        Subject::CpuQuota,
        Severity::Problem,
    ),
    (
        |m| m.clock_source = Some("hpet".to_owned()),
        Subject::ClockSource,
        Severity::Warning,
    ),
    (
        |m| m.memory_pressure_percent = Some(0.1),
        Subject::Pressure,
        Severity::Warning,
    ),
    (
        |m| m.cores_allowed = Some(2),
        Subject::Placement,
        Severity::Note,
    ),
    (
        |m| m.temperature_celsius = Some(85.0),
        Subject::Temperature,
        Severity::Warning,
    ),
    (
        |m| m.core_dumps = Some(Limit::Unlimited),
        Subject::CoreDumps,
        Severity::Note,
    ),
];

#[test]
fn each_fact_makes_its_own_finding_and_no_other() {
    for (change, subject, severity) in CHANGES {
        let mut machine = quiet();
        change(&mut machine);
        let findings = doctor::examine(&machine, Build::Release);
        assert_eq!(subjects(&findings), [subject]);
        assert_eq!(findings[0].severity, severity, "{subject:?}");
    }
}

#[test]
fn what_does_no_harm_is_no_finding() {
    let changes: [Change; 6] = [
        |m| m.file_limit = Some(Limit::Unlimited),
        |m| m.cpu_quota = Some(8.0),
        |m| m.clock_source = Some("arch_sys_counter".to_owned()),
        |m| m.memory_limit_bytes = Some(1 << 40),
        |m| m.product = Some("A server".to_owned()),
        |m| m.temperature_celsius = Some(84.9),
    ];
    for change in changes {
        let mut machine = quiet();
        change(&mut machine);
        assert_eq!(doctor::examine(&machine, Build::Release), []);
    }
}
