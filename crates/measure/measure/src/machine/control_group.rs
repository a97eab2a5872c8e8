//! The control group of this process: what it grants, and whether it is a container's.
//!
//! Version 2 has one tree, version 1 one for each controller; both may be mounted. A limit of any group
//! on the way to the root binds, so the smallest counts. Inside a container the group's own path is often
//! not mounted: then what is mounted is the container's own group, and the root of the tree is read.

use super::Limit;
use super::entries::Entries;

/// Where the process stands in the trees.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlGroup {
    /// In version 2.
    unified: Option<String>,
    /// In the trees of version 1, by what the tree is called: `cpu,cpuacct`, `memory`.
    trees: Vec<(String, String)>,
}

/// Groups deeper than this are not followed.
const DEEPEST: usize = 32;

impl ControlGroup {
    pub(super) fn read(entries: &Entries<'_>) -> Self {
        let text = entries.text("proc/self/cgroup").unwrap_or_default();
        let mut group = Self::default();
        for line in text.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if controllers.is_empty() {
                group.unified = Some(path.to_owned());
            } else {
                group.trees.push((controllers.to_owned(), path.to_owned()));
            }
        }
        group
    }

    /// Cores' worth of time.
    pub(super) fn cpu_quota(&self, entries: &Entries<'_>) -> Option<f64> {
        let unified = self.unified_folders().into_iter().filter_map(|folder| {
            let text = entries.word(&format!("{folder}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            share(quota, period)
        });
        let tree = self.tree_folders("cpu").into_iter().filter_map(|folder| {
            let quota = entries.word(&format!("{folder}/cpu.cfs_quota_us"))?;
            let period = entries.word(&format!("{folder}/cpu.cfs_period_us"))?;
            share(&quota, &period)
        });
        unified.chain(tree).reduce(f64::min)
    }

    /// Bytes of memory.
    pub(super) fn memory_limit(&self, entries: &Entries<'_>) -> Option<u64> {
        let read = |path: String| entries.word(&path)?.parse::<u64>().ok();
        let unified = self.unified_folders();
        let unified = unified
            .iter()
            .filter_map(|folder| read(format!("{folder}/memory.max")));
        let tree = self.tree_folders("memory");
        let tree = tree
            .iter()
            .filter_map(|folder| read(format!("{folder}/memory.limit_in_bytes")))
            // Version 1 writes "no limit" as the largest number of pages.
            .filter(|bytes| *bytes < i64::MAX as u64 - 0xffff);
        unified.chain(tree).min()
    }

    /// What kind of container this is, by the marks that their makers leave.
    pub(super) fn container(&self, entries: &Entries<'_>) -> Option<String> {
        let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
        let marked = marks.iter().find(|(path, _)| entries.exists(path));
        let named = entries.word("run/systemd/container");
        marked
            .map(|(_, kind)| (*kind).to_owned())
            .or(named)
            .or_else(|| self.container_by_path())
    }

    fn container_by_path(&self) -> Option<String> {
        const SIGNS: [(&str, &str); 6] = [
            ("kubepods", "kubernetes"),
            ("docker", "docker"),
            ("libpod", "podman"),
            ("containerd", "containerd"),
            ("lxc", "lxc"),
            ("garden", "garden"),
        ];
        let mut paths = self
            .unified
            .iter()
            .chain(self.trees.iter().map(|(_, path)| path));
        let kind = paths.find_map(|path| SIGNS.iter().find(|(sign, _)| path.contains(sign)))?;
        Some(kind.1.to_owned())
    }

    fn unified_folders(&self) -> Vec<String> {
        let Some(path) = &self.unified else {
            return Vec::new();
        };
        // Beside trees of version 1, the one tree is mounted a step deeper.
        let mut folders = upwards("sys/fs/cgroup", path);
        folders.extend(upwards("sys/fs/cgroup/unified", path));
        folders
    }

    fn tree_folders(&self, controller: &str) -> Vec<String> {
        let of = |name: &String| name.split(',').any(|part| part == controller);
        let found = self.trees.iter().find(|(name, _)| of(name));
        found.map_or_else(Vec::new, |(name, path)| {
            let mut folders = upwards(&format!("sys/fs/cgroup/{name}"), path);
            folders.extend(upwards(&format!("sys/fs/cgroup/{controller}"), path));
            folders
        })
    }
}

/// The group's folder and all above it, as far as `mount`. A path that leaves the tree is taken for its
/// root, because it is not visible from here.
fn upwards(mount: &str, path: &str) -> Vec<String> {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let foreign = steps.len() > DEEPEST || steps.contains(&"..") || mount.contains("..");
    let steps = if foreign { &[] } else { steps.as_slice() };
    let mut folders = vec![mount.to_owned()];
    for step in steps {
        folders.push(format!("{}/{step}", folders[folders.len() - 1]));
    }
    folders
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let quota = match quota.trim().parse::<i64>() {
        Ok(quota) if quota > 0 => Limit::At(quota.unsigned_abs()),
        _ => Limit::Unlimited,
    };
    let period: u64 = period.trim().parse().ok().filter(|period| *period > 0)?;
    match quota {
        Limit::At(quota) => Some(quota as f64 / period as f64),
        Limit::Unlimited => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_on_the_way_up_counts_and_none_outside_of_the_tree() {
        let folders = upwards("sys/fs/cgroup", "/a/b");
        assert_eq!(
            folders,
            ["sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/a/b"]
        );
        assert_eq!(upwards("sys/fs/cgroup", "/../../etc"), ["sys/fs/cgroup"]);
        assert_eq!(upwards("m", &"/x".repeat(100)), ["m"]);
        assert_eq!(upwards("m", ""), ["m"]);
    }

    #[test]
    fn a_quota_is_a_share_of_its_period_and_no_quota_is_none() {
        assert_eq!(share("150000", "100000"), Some(1.5));
        for (quota, period) in [
            ("max", "100000"),
            ("-1", "100000"),
            ("0", "1"),
            ("1", "0"),
            ("1", "x"),
        ] {
            assert_eq!(share(quota, period), None, "{quota} {period}");
        }
    }
}
