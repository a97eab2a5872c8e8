//! `explain-error`: a return code in words, with steps as commands that can be typed.

use keywright_pkcs11_names::explain::{Context, Explanation, Placeholders};
use keywright_pkcs11_names::{Named as _, ReturnCode};
use serde::Serialize;

/// A return code explained.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct CodeReport {
    /// The name in the header, or the number in hexadecimal.
    pub code: String,
    pub rv: u64,
    pub rv_hex: String,
    /// Whether the number is a vendor's.
    pub vendor: bool,
    /// What else the digits may have meant.
    pub other_reading: Option<String>,
    pub meaning: String,
    pub causes: Vec<&'static str>,
    pub hint: String,
    /// What a program does with its session after it.
    pub recovery: &'static str,
    pub functions: Vec<&'static str>,
    pub context: &'static str,
    pub steps: Vec<StepReport>,
    pub differences: Vec<DifferenceReport>,
}

/// A step to find the cause.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct StepReport {
    pub text: &'static str,
    pub command: Option<String>,
}

/// Where a known token has its own way.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct DifferenceReport {
    pub provider: &'static str,
    pub versions: &'static str,
    pub text: &'static str,
}

/// A code in a list of all.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct CodeLine {
    pub code: &'static str,
    pub rv: u64,
    pub rv_hex: String,
    pub meaning: &'static str,
}

/// Explains what a text names as a return code.
///
/// # Errors
/// [`SpellingError`](keywright_pkcs11_names::SpellingError): no code, more than one, or a name that none has,
/// with the nearest.
pub fn explain(
    text: &str,
    context: Context,
    names: Placeholders<'_>,
) -> Result<CodeReport, keywright_pkcs11_names::SpellingError> {
    let reading = ReturnCode::read(text)?;
    let other = reading
        .other()
        .map(|other| format!("{other} (0x{:08x})", other.number()));
    Ok(report(reading.value(), other, context, names))
}

fn report(
    code: ReturnCode,
    other_reading: Option<String>,
    context: Context,
    names: Placeholders<'_>,
) -> CodeReport {
    let known = Explanation::of(code);
    let vendor = code.vendor_offset().filter(|_| known.is_none());
    let meaning = match (known, vendor) {
        (Some(known), _) => known.meaning().to_owned(),
        (None, Some(offset)) => {
            format!("a code of the vendor's own, 0x{offset:x} above CKR_VENDOR_DEFINED")
        }
        (None, None) => "no code of PKCS#11 3.2".to_owned(),
    };
    let hint = match known {
        Some(known) => known.hint().to_owned(),
        None => "Look it up in the vendor's documentation.".to_owned(),
    };
    let steps = context.steps().iter().map(|step| StepReport {
        text: step.text(),
        command: step.command(names),
    });
    let differences = known.into_iter().flat_map(Explanation::differences);
    CodeReport {
        code: code.to_string(),
        rv: code.number(),
        rv_hex: format!("0x{:08x}", code.number()),
        vendor: vendor.is_some(),
        other_reading,
        meaning,
        causes: known
            .map(|known| known.causes().to_vec())
            .unwrap_or_default(),
        hint,
        recovery: code.recovery().name(),
        functions: known
            .into_iter()
            .flat_map(Explanation::functions)
            .map(|function| function.name())
            .collect(),
        context: context.name(),
        steps: steps.collect(),
        differences: differences
            .map(|row| DifferenceReport {
                provider: row.provider().name(),
                versions: row.versions(),
                text: row.text(),
            })
            .collect(),
    }
}

/// All codes with a name, ascending.
#[must_use]
pub fn list() -> Vec<CodeLine> {
    Explanation::all()
        .map(|known| CodeLine {
            code: known.code().name().unwrap_or_default(),
            rv: known.code().number(),
            rv_hex: format!("0x{:08x}", known.code().number()),
            meaning: known.meaning(),
        })
        .collect()
}
