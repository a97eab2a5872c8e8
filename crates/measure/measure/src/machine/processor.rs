//! The processor: its model, its features, its clock.

use super::entries::{self, Entries};

/// Features that change how fast cryptography is or how time is read, x86 first, then ARM.
const TELLING: &[&str] = &[
    "adx",
    "aes",
    "asimd",
    "avx",
    "avx2",
    "avx512_ifma",
    "avx512_vbmi2",
    "avx512bw",
    "avx512dq",
    "avx512f",
    "avx512ifma",
    "avx512vl",
    "bmi2",
    "constant_tsc",
    "gfni",
    "nonstop_tsc",
    "pclmulqdq",
    "pmull",
    "rdrand",
    "rdseed",
    "sha1",
    "sha2",
    "sha3",
    "sha512",
    "sha_ni",
    "sm3",
    "sm4",
    "ssse3",
    "sve",
    "sve2",
    "vaes",
    "vpclmulqdq",
];

/// What the processor is called.
pub(super) fn model(info: &str) -> Option<String> {
    entries::printable(entries::field(info, "model name")?)
}

/// The telling ones among its features, in alphabetical order.
pub(super) fn features(info: &str) -> Vec<String> {
    let all = all_features(info).unwrap_or_default();
    let named = |name: &&&str| all.split_whitespace().any(|word| word == **name);
    TELLING
        .iter()
        .filter(named)
        .map(|name| (*name).to_owned())
        .collect()
}

/// Only x86 says whether a hypervisor is beneath it.
pub(super) fn hypervisor(info: &str) -> Option<bool> {
    let flags = entries::field(info, "flags")?;
    Some(flags.split_whitespace().any(|word| word == "hypervisor"))
}

fn all_features(info: &str) -> Option<&str> {
    entries::field(info, "flags").or_else(|| entries::field(info, "Features"))
}

/// Cores that are online.
pub(super) fn cores(entries: &Entries<'_>, info: Option<&str>) -> Option<u32> {
    let online = entries
        .word("sys/devices/system/cpu/online")
        .and_then(|list| entries::count_of_list(&list));
    online.or_else(|| {
        let listed = info?
            .lines()
            .filter(|line| {
                line.split(':')
                    .next()
                    .is_some_and(|key| key.trim() == "processor")
            })
            .count();
        u32::try_from(listed).ok().filter(|count| *count > 0)
    })
}

/// The governors of all cores, each once.
pub(super) fn governor(entries: &Entries<'_>) -> Option<String> {
    let mut names: Vec<String> = entries
        .children("sys/devices/system/cpu", "cpu")
        .iter()
        .filter_map(|core| entries.word(&format!("{core}/cpufreq/scaling_governor")))
        .collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Intel's driver says whether it is forbidden, the others whether it is allowed.
pub(super) fn turbo(entries: &Entries<'_>) -> Option<bool> {
    let forbidden = entries.switch("sys/devices/system/cpu/intel_pstate/no_turbo");
    forbidden
        .map(|forbidden| !forbidden)
        .or_else(|| entries.switch("sys/devices/system/cpu/cpufreq/boost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_those_that_tell_and_only_whole_words_count() {
        let info = "processor : 0\nflags : fpu aes aesx sha_ni notvaes hypervisor\n";
        assert_eq!(features(info), ["aes", "sha_ni"]);
        assert_eq!(hypervisor(info), Some(true));
        let arm = "processor : 0\nFeatures : fp asimd aes pmull sha2\n";
        assert_eq!(features(arm), ["aes", "asimd", "pmull", "sha2"]);
        assert_eq!(hypervisor(arm), None);
        assert_eq!(model(arm), None);
    }

    #[test]
    fn the_list_of_features_is_in_order_and_names_each_once() {
        assert!(TELLING.is_sorted_by(|one, next| one < next));
    }
}
