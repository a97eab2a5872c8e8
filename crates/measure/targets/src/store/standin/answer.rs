//! Answers as the products shape them.

use http::StatusCode;
use serde_json::{Value, json};

/// A status and a body; null is an empty one.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    body: Value,
}

impl Answer {
    /// Data in its envelope.
    pub(super) fn data(data: Value) -> Self {
        Self::plain(
            StatusCode::OK,
            json!({
                "request_id": "",
                "lease_id": "",
                "renewable": false,
                "lease_duration": 0,
                "data": data,
                "wrap_info": null,
                "warnings": null,
                "auth": null,
            }),
        )
    }

    /// Without an envelope, as the system's own routes answer.
    pub(super) const fn plain(status: StatusCode, body: Value) -> Self {
        Self { status, body }
    }

    /// All went well, and there is nothing to say.
    pub(super) const fn empty() -> Self {
        Self::plain(StatusCode::NO_CONTENT, Value::Null)
    }

    /// What is not there: no errors are listed.
    pub(super) fn missing() -> Self {
        Self::plain(StatusCode::NOT_FOUND, json!({ "errors": [] }))
    }

    pub(super) fn refused(status: StatusCode, why: &str) -> Self {
        Self::plain(status, json!({ "errors": [why] }))
    }

    /// The request makes no sense to the engine.
    pub(super) fn bad(why: &str) -> Self {
        Self::refused(StatusCode::BAD_REQUEST, why)
    }

    pub(super) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) const fn body(&self) -> &Value {
        &self.body
    }

    /// The same with every text in its data turned into another one and every yes into no.
    pub(super) fn spoilt(mut self) -> Self {
        if let Some(data) = self.body.get_mut("data") {
            spoil(data);
        }
        self
    }
}

fn spoil(value: &mut Value) {
    match value {
        Value::String(text) => *text = other(text),
        // Not the opposite: a wrong yes to a wrong signature would be two errors that look right.
        Value::Bool(is) => *is = false,
        Value::Array(values) => values.iter_mut().for_each(spoil),
        Value::Object(fields) => fields.values_mut().for_each(spoil),
        Value::Null | Value::Number(_) => {}
    }
}

/// Differs in the character in the middle, and is base64 if it was.
fn other(text: &str) -> String {
    let middle = text.chars().count() / 2;
    let swap = |(place, c)| match (place == middle, c) {
        (false, c) => c,
        (true, 'A') => 'B',
        (true, _) => 'A',
    };
    text.chars().enumerate().map(swap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoiling_changes_every_output_and_keeps_lengths() {
        let data = json!({ "a": "vault:v1:AAAA", "b": [true, "x"], "c": 7, "d": "" });
        let spoilt = Answer::data(data).spoilt();
        let expected = json!({ "a": "vault:A1:AAAA", "b": [false, "A"], "c": 7, "d": "" });
        assert_eq!(spoilt.body()["data"], expected);
    }
}
