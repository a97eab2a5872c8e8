//! What the person in front of the dashboard has chosen, and the keys that choose it.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::plots::Scales;
use crate::Style;
use crate::live::state::Snapshot;

/// A page of the dashboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Panel {
    /// A little of everything.
    #[default]
    Overview,
    /// Quantiles over time and the histogram.
    Latency,
    /// Results and their verdicts.
    Cases,
    /// Failures by code, and remarks.
    Errors,
    /// Health of the generator, noise of the machine.
    Health,
}

impl Panel {
    /// Every panel, in the order of Tab.
    pub const ALL: [Self; 5] = [
        Self::Overview,
        Self::Latency,
        Self::Cases,
        Self::Errors,
        Self::Health,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Latency => "Latency",
            Self::Cases => "Cases",
            Self::Errors => "Errors",
            Self::Health => "Health",
        }
    }

    fn step(self, by: usize) -> Self {
        let here = Self::ALL.iter().position(|panel| *panel == self);
        let next = (here.unwrap_or(0) + by) % Self::ALL.len();
        Self::ALL.get(next).copied().unwrap_or_default()
    }
}

/// What a key asks of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// The end; what was measured is reported.
    Stop,
}

/// The choices.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub(super) panel: Panel,
    pub(super) paused: Option<Arc<Snapshot>>,
    pub(super) frozen: Option<Scales>,
    pub(super) help: Help,
    pub(super) scroll: usize,
    pub(super) stopping: Stopping,
    pub(super) style: Style,
}

/// Whether the keys are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Help {
    #[default]
    Hidden,
    Shown,
}

/// Whether the end was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stopping {
    Asked,
    #[default]
    No,
}

impl View {
    /// The overview, moving.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self {
            style,
            ..Self::default()
        }
    }

    /// The panel that is open.
    #[must_use]
    pub const fn panel(&self) -> Panel {
        self.panel
    }

    /// What is drawn when `latest` is the latest: that, or what was there when the display was paused.
    #[must_use]
    pub fn shown(&self, latest: Arc<Snapshot>) -> Arc<Snapshot> {
        self.paused.as_ref().map_or(latest, Arc::clone)
    }

    /// Follows `key`, which was pressed while `snapshot` was shown.
    pub fn key(&mut self, key: KeyEvent, snapshot: &Arc<Snapshot>) -> Asked {
        if key.kind == KeyEventKind::Release {
            return Asked::Nothing;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return self.stop(),
            KeyCode::Char(_) if control => {}
            KeyCode::Char('q') => return self.stop(),
            KeyCode::Char('p') => {
                self.paused = match self.paused {
                    None => Some(Arc::clone(snapshot)),
                    Some(_) => None,
                };
            }
            KeyCode::Char('f') => {
                self.frozen = match (self.frozen, &snapshot.current) {
                    (None, Some(current)) => Some(Scales::of(current)),
                    _ => None,
                };
            }
            KeyCode::Char('?') => {
                self.help = match self.help {
                    Help::Hidden => Help::Shown,
                    Help::Shown => Help::Hidden,
                };
            }
            KeyCode::Esc => self.help = Help::Hidden,
            KeyCode::Tab => self.open(self.panel.step(1)),
            KeyCode::BackTab => self.open(self.panel.step(Panel::ALL.len() - 1)),
            KeyCode::Char(digit @ '1'..='5') => self.open_nth(digit),
            KeyCode::Down => self.scroll = (self.scroll + 1).min(snapshot.finished.len()),
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            _ => {}
        }
        Asked::Nothing
    }

    const fn stop(&mut self) -> Asked {
        self.stopping = Stopping::Asked;
        Asked::Stop
    }

    const fn open(&mut self, panel: Panel) {
        self.panel = panel;
        self.scroll = 0;
    }

    fn open_nth(&mut self, digit: char) {
        let place = digit.to_digit(10).and_then(|d| usize::try_from(d).ok());
        if let Some(panel) = place.and_then(|place| Panel::ALL.get(place.checked_sub(1)?)) {
            self.open(*panel);
        }
    }
}
