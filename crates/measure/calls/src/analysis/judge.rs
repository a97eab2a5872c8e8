//! What to change: the findings, each with its threshold.

use keywright_pkcs11_names::{Family, MechanismType, Recovery, ReturnCode};

use super::{Call, Outcome, State};
use crate::bounded::Bounded;
use crate::finding::{Finding, Severity, Spot};
use crate::reader::Tally;
use crate::report::Ratios;

/// Fewer operations say nothing about a program's habits.
const ENOUGH: u64 = 10;
/// So many failures in a row of one process are a burst.
const BURST: u64 = 10;

/// Mechanisms that new systems should not use, with how often their operations began.
#[derive(Debug)]
pub(super) struct Legacy {
    used: Bounded<MechanismType, Spot>,
}

impl Default for Legacy {
    fn default() -> Self {
        Self {
            used: Bounded::new(64),
        }
    }
}

impl Legacy {
    pub(super) fn take(&mut self, call: &Call<'_>) {
        let own = call.seen.record.mech.as_ref();
        let mechanism = own.and_then(|mech| mech.value);
        let Some((mechanism, function)) = mechanism.zip(call.function) else {
            return;
        };
        let signs = matches!(function.family(), Family::Sign | Family::Verify);
        // A signature over a hash that the application made. Only its encryption is legacy.
        let fine = mechanism == MechanismType::RSA_PKCS && signs;
        let asked = function.family() == Family::Slot;
        if call.outcome == Outcome::Done
            && !asked
            && !fine
            && mechanism.is_legacy()
            && let Some(spot) = self.used.entry(mechanism, Spot::default)
        {
            spot.mark(call.seen.line);
        }
    }
}

/// Failures in a row, by process.
#[derive(Debug)]
pub(super) struct Bursts {
    row: Bounded<u32, u64>,
    longest: u64,
    bursts: Spot,
}

impl Default for Bursts {
    fn default() -> Self {
        Self {
            row: Bounded::new(4096),
            longest: 0,
            bursts: Spot::default(),
        }
    }
}

impl Bursts {
    pub(super) fn take(&mut self, call: &Call<'_>) {
        let Some(row) = self.row.entry(call.process, || 0) else {
            return;
        };
        match call.outcome {
            Outcome::Failed if !is_an_answer(call) => {
                *row += 1;
                self.longest = self.longest.max(*row);
                if *row == BURST {
                    self.bursts.mark(call.seen.line);
                }
            }
            Outcome::Failed => {}
            _ => *row = 0,
        }
    }
}

/// Whether a code that is not `CKR_OK` is what the caller asked to know.
fn is_an_answer(call: &Call<'_>) -> bool {
    let code = call.code().unwrap_or(ReturnCode::OK);
    let asks = call.name() == "C_GetAttributeValue" || call.name().starts_with("C_GetInterface");
    let negative = matches!(
        code,
        ReturnCode::BUFFER_TOO_SMALL
            | ReturnCode::CRYPTOKI_ALREADY_INITIALIZED
            | ReturnCode::USER_ALREADY_LOGGED_IN
            | ReturnCode::NO_EVENT
    );
    asks || negative || code.is_refusal()
}

/// Whether the token or the module was lost.
pub(super) fn is_loss(code: ReturnCode) -> bool {
    !code.is_unnamed() && code.recovery() == Recovery::Reconnect
}

/// The heaviest first.
pub(super) fn findings(state: &State, tally: &Tally, ratios: &Ratios) -> Vec<Finding> {
    let mut found = Vec::new();
    secrets(state, tally, &mut found);
    failures(state, &mut found);
    habits(state, ratios, &mut found);
    doubled(state, &mut found);
    gaps(state, tally, &mut found);
    found.sort_by(|a, b| {
        let order = b.severity.cmp(&a.severity).then_with(|| a.code.cmp(b.code));
        order.then_with(|| a.happened.cmp(&b.happened))
    });
    found
}

fn secrets(state: &State, tally: &Tally, found: &mut Vec<Finding>) {
    let tags = &state.tags;
    if tags.nonces.count > 0 {
        let happened = format!(
            "{} times a nonce was used again under the same key",
            tags.nonces.count
        );
        let advice = "let the token make the nonce, or count it up and never start again; treat what was encrypted under it as disclosed. A token that makes the nonce itself is handed the same empty buffer each time: then this is no reuse";
        found.push(Finding::new(
            "nonce-reuse",
            Severity::Critical,
            (happened, advice),
            tags.nonces,
        ));
    }
    if tags.vectors.count > 0 {
        let happened = format!(
            "{} times an initialisation vector was used again under the same key",
            tags.vectors.count
        );
        let advice = "take a fresh random one for each message, or change to an authenticated mode";
        found.push(Finding::new(
            "iv-reuse",
            Severity::Medium,
            (happened, advice),
            tags.vectors,
        ));
    }
    if tally.secret_lines > 0 {
        let happened = format!(
            "the log holds {} lines of bytes, PINs and data among them",
            tally.secret_lines
        );
        let advice = "write a copy with --scrub, delete the log, change the PINs that stand in it, and record with the recorder, which never writes them";
        found.push(Finding::new(
            "secrets-in-log",
            Severity::High,
            (happened, advice),
            Spot::times(tally.secret_lines),
        ));
    }
    for (mechanism, spot) in state.legacy.used.iter() {
        let happened = format!("{mechanism} was used {} times", spot.count);
        let advice = "choose a mechanism that is not broken or outdated: AES-GCM, RSA-OAEP, RSA-PSS, ECDSA, SHA-256 or longer";
        found.push(Finding::new(
            "legacy-mechanism",
            Severity::Medium,
            (happened, advice),
            *spot,
        ));
    }
}

fn failures(state: &State, found: &mut Vec<Finding>) {
    if state.incomplete.count > 0 {
        let happened = format!(
            "{} calls have no answer: the process ended in them, or the log did",
            state.incomplete.count
        );
        let advice = "look at the last call of the process: the module may have crashed or hung in it; the recorder keeps every call before a crash";
        found.push(Finding::new(
            "call-without-answer",
            Severity::High,
            (happened, advice),
            state.incomplete,
        ));
    }
    if state.lost.count > 0 {
        let happened = format!(
            "{} calls found the token or the module lost",
            state.lost.count
        );
        let advice = "reconnect in the application: finalise, initialise, find the token by its serial number, log in, look keys up again; and see why the device goes away";
        found.push(Finding::new(
            "token-lost",
            Severity::High,
            (happened, advice),
            state.lost,
        ));
    }
    let retries = state.places.retries;
    if retries.count > 0 {
        let happened = format!(
            "{} logins followed a wrong PIN for the same token",
            retries.count
        );
        let advice = "stop at the first wrong PIN and ask a person: most tokens lock after a few";
        found.push(Finding::new(
            "retry-after-wrong-pin",
            Severity::High,
            (happened, advice),
            retries,
        ));
    }
    let bursts = &state.bursts;
    if bursts.bursts.count > 0 {
        let happened = format!(
            "{} times {BURST} or more calls in a row failed, {} at most",
            bursts.bursts.count, bursts.longest
        );
        let advice = "let the application look at the code before it goes on: explain-error says whether to repeat, reopen or give up";
        found.push(Finding::new(
            "error-burst",
            Severity::Medium,
            (happened, advice),
            bursts.bursts,
        ));
    }
}

fn habits(state: &State, ratios: &Ratios, found: &mut Vec<Finding>) {
    let leaked = state.places.leaked;
    if leaked.count > 0 {
        let happened = format!(
            "{} sessions were still open when their process finalised the module",
            leaked.count
        );
        let advice = "close each session where it is no longer needed; tokens have few of them";
        found.push(Finding::new(
            "session-leak",
            Severity::Medium,
            (happened, advice),
            leaked,
        ));
    }
    if ratios.operations < ENOUGH {
        return;
    }
    let (sessions, logins) = (state.places.sessions(), state.places.logins());
    let much = |count: u64, share: f64| count as f64 >= ratios.operations as f64 * share;
    let seen =
        |count: u64, what: &str| format!("{count} {what} for {} operations", ratios.operations);
    let tried = logins.succeeded + logins.wrong_pin + logins.failed_otherwise;
    if much(tried, 0.5) {
        let advice = "log in once and keep a session open: a login costs the token a key derivation, and ends with the last session";
        found.push(Finding::new(
            "login-per-operation",
            Severity::Medium,
            (seen(tried, "logins"), advice),
            Spot::times(tried),
        ));
    }
    if much(sessions.opened, 0.9) {
        let advice = "keep a pool of sessions, one for each thread";
        found.push(Finding::new(
            "session-per-operation",
            Severity::Low,
            (seen(sessions.opened, "sessions"), advice),
            Spot::times(sessions.opened),
        ));
    }
    if much(ratios.searches, 0.9) {
        let advice = "look a key up once and keep its handle as long as the session lives";
        found.push(Finding::new(
            "search-per-operation",
            Severity::Low,
            (seen(ratios.searches, "searches"), advice),
            Spot::times(ratios.searches),
        ));
    }
}

fn doubled(state: &State, found: &mut Vec<Finding>) {
    let works = |name: &str| {
        let family = state
            .counts
            .function(name)
            .map(keywright_pkcs11_names::Function::family);
        matches!(
            family,
            Some(Family::Decrypt | Family::Encrypt | Family::Key | Family::Sign | Family::Digest)
        )
    };
    for row in state.counts.size_queries() {
        if row.size_queries >= ENOUGH
            && row.size_queries * 5 >= row.calls * 2
            && works(&row.function)
        {
            let happened = format!(
                "{} of {} calls of {} only asked for the length of the result",
                row.size_queries, row.calls, row.function
            );
            let advice = "give a buffer that is large enough at once: lengths follow from the key and the input";
            found.push(Finding::new(
                "size-query-doubling",
                Severity::Low,
                (happened, advice),
                Spot::times(row.size_queries),
            ));
        }
    }
}

fn gaps(state: &State, tally: &Tally, found: &mut Vec<Finding>) {
    if state.dropped > 0 {
        let happened = format!(
            "{} calls are missing: the recorder had no room for them",
            state.dropped
        );
        let advice = "set KEYWRIGHT_P11_QUEUE higher, or write to a faster place; counts and rates here are too low";
        found.push(Finding::new(
            "records-missing",
            Severity::Low,
            (happened, advice),
            Spot::times(state.dropped),
        ));
    }
    if tally.unreadable > 0 {
        let happened = format!("{} lines say nothing that is understood", tally.unreadable);
        let advice = "see the first of them; another program may write to the same file";
        let spot = Spot {
            count: tally.unreadable,
            line: tally.first_unreadable,
        };
        found.push(Finding::new(
            "unreadable-lines",
            Severity::Low,
            (happened, advice),
            spot,
        ));
    }
}
