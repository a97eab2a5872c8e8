//! A form that is being filled in, and the words that it comes to.

use super::registry::{Definition, Entry, Kind};

/// The form of a command.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) fields: Vec<Field>,
    pub(super) at: usize,
    pub(super) told: String,
}

/// A field with what stands in it.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) definition: Definition,
    pub(super) value: String,
    pub(super) on: bool,
}

impl Form {
    /// Filled with what is known: values by the ids of their fields.
    pub(super) fn new(entry: &Entry, known: &[(String, String)]) -> Self {
        let field = |definition: &Definition| {
            let known = known.iter().find(|(id, _)| *id == definition.id);
            Field {
                value: known.map_or_else(|| definition.default.clone(), |(_, value)| value.clone()),
                on: false,
                definition: definition.clone(),
            }
        };
        Self {
            name: entry.name.clone(),
            about: entry.about.clone(),
            fields: entry.fields.iter().map(field).collect(),
            at: 0,
            told: String::new(),
        }
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.at)
    }

    pub(super) fn set(&mut self, id: &str, value: &str) {
        let mut fields = self.fields.iter_mut();
        if let Some(field) = fields.find(|field| field.definition.id == id) {
            match field.definition.kind {
                Kind::Toggle => field.on = value == "true",
                _ => value.clone_into(&mut field.value),
            }
        }
    }

    /// The values of these fields, by id: where the next form begins.
    pub(super) fn values(&self, ids: &[&str]) -> Vec<(String, String)> {
        let fields = self
            .fields
            .iter()
            .filter(|field| ids.contains(&field.definition.id.as_str()));
        let filled = fields.filter(|field| !field.value.is_empty());
        filled
            .map(|field| (field.definition.id.clone(), field.value.clone()))
            .collect()
    }

    /// The words of the command without its name, as they would be typed.
    pub(super) fn words(&self) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        let (mut bare, mut more) = (Vec::new(), Vec::new());
        for field in &self.fields {
            field.check()?;
            match &field.definition.long {
                Some(long) => words.extend(field.flag(long)),
                None if field.definition.hyphens => more.extend(field.parts()),
                None => bare.extend(field.parts()),
            }
        }
        words.extend(more);
        if bare.iter().any(|word| word.starts_with('-')) {
            words.push("--".to_owned());
        }
        words.extend(bare);
        Ok(words)
    }

    /// The line that does the same.
    pub(super) fn line(&self) -> String {
        let words = self.words().unwrap_or_default();
        line(&self.name, &words)
    }
}

/// A command line for a shell.
pub(super) fn line(name: &str, words: &[String]) -> String {
    let quoted = words.iter().map(|word| quoted(word));
    let all: Vec<_> = ["keywright", "hsm", name]
        .into_iter()
        .map(str::to_owned)
        .chain(quoted)
        .collect();
    all.join(" ")
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Field {
    pub(super) fn name(&self) -> String {
        match &self.definition.long {
            Some(long) => long.clone(),
            None => self.definition.id.replace('_', "-"),
        }
    }

    /// What stands in it.
    pub(super) fn shown(&self) -> String {
        match self.definition.kind {
            Kind::Toggle if self.on => "[x]".to_owned(),
            Kind::Toggle => "[ ]".to_owned(),
            _ => self.value.clone(),
        }
    }

    /// What it is for, and what may stand in it.
    pub(super) fn help(&self) -> String {
        let about = self.definition.help.trim_end_matches('.');
        match &self.definition.kind {
            Kind::Choice(values) => format!("{about}. One of: {}.", values.join(", ")),
            Kind::Texts => format!("{about}. Several with blanks between."),
            _ => format!("{about}."),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.definition.required
            && self.value.trim().is_empty()
            && self.definition.kind != Kind::Toggle
        {
            return Err(format!("{} is to be filled in", self.name()));
        }
        if self.value == "-" && self.definition.id != "output" {
            return Err(format!(
                "{}: standard input is the keyboard here; name a file",
                self.name()
            ));
        }
        Ok(())
    }

    fn parts(&self) -> Vec<String> {
        match self.definition.kind {
            Kind::Texts => self.value.split_whitespace().map(str::to_owned).collect(),
            _ if self.value.is_empty() => Vec::new(),
            _ => vec![self.value.clone()],
        }
    }

    fn flag(&self, long: &str) -> Vec<String> {
        if self.definition.kind == Kind::Toggle {
            return if self.on {
                vec![format!("--{long}")]
            } else {
                Vec::new()
            };
        }
        if self.value == self.definition.default {
            return Vec::new();
        }
        let parts = self.parts();
        match parts.as_slice() {
            [] => Vec::new(),
            [value] if value.starts_with('-') => vec![format!("--{long}={value}")],
            parts => std::iter::once(format!("--{long}"))
                .chain(parts.iter().cloned())
                .collect(),
        }
    }

    /// Goes to the next or the previous choice; an optional one may be empty.
    pub(super) fn turn(&mut self, way: Way) {
        let Kind::Choice(values) = &self.definition.kind else {
            return;
        };
        let mut all: Vec<&str> = values.iter().map(String::as_str).collect();
        if self.definition.default.is_empty() {
            all.insert(0, "");
        }
        let at = all
            .iter()
            .position(|value| *value == self.value)
            .unwrap_or(0);
        let next = match way {
            Way::Next => (at + 1) % all.len().max(1),
            Way::Previous => (at + all.len().max(1) - 1) % all.len().max(1),
        };
        self.value = all.get(next).copied().unwrap_or_default().to_owned();
    }
}

/// Through the choices of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Next,
    Previous,
}
