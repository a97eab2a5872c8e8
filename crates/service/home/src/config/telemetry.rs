//! `[telemetry]`: where spans of requests go, how many, and what they say of whom.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_service::{Shared, SpanFate};
use keywright_telemetry::{
    Count, Endpoint, Exporting, Fate, Plain, Resource, Sampling, Settings, Tracer,
};
use keywright_tls::{Protocol, client_config};
use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::ranges::within;
use crate::{HomeError, files};

/// A collector of OpenTelemetry, and what it is told.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Telemetry {
    /// `https://HOST[:PORT][/PATH]`, or `http://` on this machine.
    pub endpoint: String,
    /// The trust anchors of its certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorities: Option<PathBuf>,
    /// Whether spans may leave this machine without TLS.
    #[serde(default)]
    pub allow_plaintext: bool,
    /// The share of requests that have a span.
    #[serde(default = "default_ratio")]
    pub ratio: f64,
    /// How many requests a second have one because their caller says that it records them.
    #[serde(default = "default_parents")]
    pub parents_per_s: u32,
    /// Spans that may wait for the collector.
    #[serde(default = "default_queue")]
    pub queue: usize,
    /// How long the collector may take over a batch, connecting included.
    #[serde(default = "default_timeout")]
    pub timeout_ms: u64,
    /// `service.name` of what is told.
    #[serde(default = "default_name")]
    pub service_name: String,
    /// Further attributes of the resource.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resource: BTreeMap<String, String>,
}

const fn default_ratio() -> f64 {
    0.01
}

const fn default_parents() -> u32 {
    10
}

const fn default_queue() -> usize {
    4096
}

const fn default_timeout() -> u64 {
    5000
}

fn default_name() -> String {
    "keywright".to_owned()
}

const NAME: &str = "service.name";
const VERSION: &str = "service.version";
/// Attributes of a resource, and characters of one.
const MOST_ATTRIBUTES: usize = 32;
const LONGEST: usize = 256;

impl Telemetry {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let value = |key, reason: String| Err(ConfigError::Value { key, reason });
        let endpoint = self.endpoint()?;
        match (endpoint.is_secure(), &self.authorities) {
            (true, None) => {
                let because = "a collector is believed under the authorities that are named here";
                let key = "telemetry.authorities";
                return Err(ConfigError::Needs { key, because });
            }
            (false, Some(_)) => {
                let because = "telemetry.endpoint is http, where nobody shows a certificate";
                let key = "telemetry.authorities";
                return Err(ConfigError::Excess { key, because });
            }
            (false, None) if !endpoint.is_loopback() && !self.allow_plaintext => {
                let reason = "http leaves this machine unprotected; use https, or set telemetry.allow_plaintext = true";
                return value("telemetry.endpoint", reason.to_owned());
            }
            _ => {}
        }
        if !(0.0..=1.0).contains(&self.ratio) {
            let reason = format!("{} is not from 0 to 1", self.ratio);
            return value("telemetry.ratio", reason);
        }
        self.check_numbers()?;
        self.check_words()
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let parents = u64::from(self.parents_per_s);
        within([
            (
                "telemetry.parents_per_s",
                parents,
                0,
                1_000_000,
                "0 to 1000000",
            ),
            (
                "telemetry.queue",
                self.queue as u64,
                1,
                65_536,
                "1 to 65536",
            ),
            (
                "telemetry.timeout_ms",
                self.timeout_ms,
                1,
                60_000,
                "1 to 60000",
            ),
        ])
    }

    fn check_words(&self) -> Result<(), ConfigError> {
        let fits = |text: &str| {
            let length = text.chars().count();
            (1..=LONGEST).contains(&length) && !text.contains(char::is_control)
        };
        let wrong = |key, reason: &str| {
            let reason = reason.to_owned();
            Err(ConfigError::Value { key, reason })
        };
        if !fits(&self.service_name) {
            return wrong(
                "telemetry.service_name",
                "it has 1 to 256 characters on one line",
            );
        }
        let key = "telemetry.resource";
        let own = |name: &String| name == NAME || name == VERSION;
        if self.resource.len() > MOST_ATTRIBUTES {
            return wrong(key, "there are 32 attributes at most");
        }
        if self.resource.keys().any(own) {
            return wrong(
                key,
                "service.name is telemetry.service_name, and service.version the program's",
            );
        }
        let mut words = self.resource.iter().flat_map(|(name, word)| [name, word]);
        match words.all(|word| fits(word)) {
            true => Ok(()),
            false => wrong(key, "names and values have 1 to 256 characters on one line"),
        }
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint, ConfigError> {
        Endpoint::parse(&self.endpoint).map_err(|error| ConfigError::Value {
            key: "telemetry.endpoint",
            reason: error.to_string(),
        })
    }

    /// What an exporter of these spans is started with.
    pub(crate) fn settings(&self, clock: &Clock) -> Result<Settings, HomeError> {
        let tls = match &self.authorities {
            None => None,
            Some(authorities) => {
                let roots = files::read(authorities)?;
                Some(client_config(&roots, None, &[Protocol::Http1], clock)?)
            }
        };
        let own = [
            (NAME.to_owned(), self.service_name.clone()),
            (VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ];
        Ok(Settings {
            endpoint: self.endpoint()?,
            plain: match self.allow_plaintext {
                true => Plain::Anywhere,
                false => Plain::Loopback,
            },
            tls,
            timeout: Duration::from_millis(self.timeout_ms),
            sampling: Sampling::new(self.ratio, self.parents_per_s),
            queue: self.queue,
            resource: Resource::new(own.into_iter().chain(self.resource.clone())),
        })
    }

    /// Starts the thread that sends spans, whose fate is counted among the metrics.
    pub(crate) fn start(&self, shared: &Arc<Shared>) -> Result<(Tracer, Exporting), HomeError> {
        let settings = self.settings(shared.clock())?;
        let shared = Arc::clone(shared);
        let count: Count = Arc::new(move |fate, spans| {
            let fate = match fate {
                Fate::Dropped => SpanFate::Dropped,
                Fate::Lost => SpanFate::Lost,
                Fate::Sent => SpanFate::Sent,
            };
            shared.metrics().note_spans(fate, spans);
        });
        Exporting::start(settings, count).map_err(HomeError::Thread)
    }
}
