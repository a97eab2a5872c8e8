//! What a caller is told of the contexts that it may know.

use std::sync::Arc;

use keywright_api::answer::{ContextEntry, ContextFormat, VersionEntry};
use keywright_custody::{Detail, Key};

pub(super) fn entry(key: &Arc<Key>) -> ContextEntry {
    let versions = key.versions().iter();
    ContextEntry {
        name: key.name().clone(),
        id: key.id(),
        purpose: key.spec().purpose,
        format: key.detail().and_then(|detail| format_of(detail)),
        active_version: key.active().map(keywright_custody::Version::number),
        versions: versions
            .map(|version| VersionEntry {
                version: version.number(),
                state: version.state(),
            })
            .collect(),
    }
}

fn format_of(detail: &Detail) -> Option<ContextFormat> {
    match detail {
        Detail::Format(format) => Some(ContextFormat {
            format: format.format.clone(),
            tweak: format.tweak.clone(),
            mask: format.mask.clone(),
        }),
        _ => None,
    }
}
