//! `admin policy explain` and `who-can`.

use keywright_home::{Able, Answer, Order, Reach, Reason};
use keywright_policy::Effect;
use keywright_types::{Code, Name, Operation};
use serde::Serialize;

use super::Tenant;
use super::order::{give, unexpected};
use crate::exit::Failure;
use crate::output::{self, Format};
use crate::place::Home;

/// What is asked about.
#[derive(Debug, clap::Args)]
pub(super) struct Question {
    /// The operation, as a grant names it.
    #[arg(value_name = "OPERATION")]
    operation: Operation,
    /// The context, for operations that concern one.
    #[arg(value_name = "CONTEXT")]
    context: Option<Name>,
    #[command(flatten)]
    tenant: Tenant,
}

/// The same about one principal.
#[derive(Debug, clap::Args)]
pub(super) struct Explain {
    /// The principal.
    #[arg(value_name = "WHO")]
    principal: Name,
    #[command(flatten)]
    question: Question,
}

#[derive(Serialize)]
struct ExplainedDocument<'a> {
    principal: &'a Name,
    operation: Operation,
    context: Option<&'a Name>,
    allowed: bool,
    code: &'a str,
    reach: Reach,
    reasons: &'a [Reason],
}

#[derive(Serialize)]
struct WhoDocument<'a> {
    operation: Operation,
    context: Option<&'a Name>,
    principals: &'a [Able],
}

pub(super) fn explain(home: &Home, asked: &Explain, format: Format) -> Result<(), Failure> {
    let question = &asked.question;
    let order = Order::PolicyExplain {
        tenant: question.tenant.tenant.clone(),
        principal: asked.principal.clone(),
        operation: question.operation,
        context: question.context.clone(),
    };
    let Answer::Explained {
        code,
        reach,
        reasons,
    } = give(home, order)?
    else {
        return Err(unexpected());
    };
    let allowed = code == Code::Ok.name();
    let document = ExplainedDocument {
        principal: &asked.principal,
        operation: question.operation,
        context: question.context.as_ref(),
        allowed,
        code: &code,
        reach,
        reasons: &reasons,
    };
    output::document(format, &document, || {
        let decision = if allowed { "allowed" } else { "refused" };
        let mut rows = vec![
            ("decision", decision.to_owned()),
            ("code", code.clone()),
            ("reach", reach.name().to_owned()),
        ];
        rows.extend(reasons.iter().map(|reason| ("grant", sentence(reason))));
        output::fields(&rows)
    })
}

fn sentence(reason: &Reason) -> String {
    let effect = match reason.effect {
        Effect::Allow => "allows",
        Effect::Deny => "denies",
    };
    match reason.paths.as_slice() {
        [] => format!("number {} {effect} it", reason.grant),
        paths => format!(
            "number {} {effect} it at {}",
            reason.grant,
            paths.join(", ")
        ),
    }
}

pub(super) fn who_can(home: &Home, question: &Question, format: Format) -> Result<(), Failure> {
    let order = Order::PolicyWhoCan {
        tenant: question.tenant.tenant.clone(),
        operation: question.operation,
        context: question.context.clone(),
    };
    let Answer::WhoCan { principals } = give(home, order)? else {
        return Err(unexpected());
    };
    let document = WhoDocument {
        operation: question.operation,
        context: question.context.as_ref(),
        principals: &principals,
    };
    output::document(format, &document, || {
        let heading = ["principal", "reach"].map(str::to_owned).to_vec();
        let rows = principals
            .iter()
            .map(|able| vec![able.principal.to_string(), able.reach.name().to_owned()]);
        output::table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
    })
}
