//! The patterns over a stream: each place is asked once for what begins there,
//! what is found is covered by marks, and nothing is given out that a later byte
//! could change. Pure.

#[cfg(test)]
use std::cell::Cell;
use std::sync::Arc;

use super::assign;
use super::kind::{Kind, Marks};
use super::name::Meaning;
use super::rules::{self, Found};
use super::run::{self, Class};
use super::window::{Item, LOOK_BACK, Look, Window};

pub(crate) struct PatternStream {
    marks: Arc<Marks>,
    /// What the name says that the whole stream stands behind.
    name: Option<Meaning>,
    /// What may still be looked at, and a few bytes before it.
    pending: Vec<u8>,
    /// Everything before is settled and given out.
    at: usize,
    /// Where the last mark ended.
    floor: usize,
    /// What was found and begins at `at` or behind it, in order.
    planned: Vec<Found>,
    cover: Option<Cover>,
    hits: usize,
    #[cfg(test)]
    visits: Cell<u64>,
}

/// A stretch that one mark replaces, as far as it is known.
struct Cover {
    end: usize,
    kind: Kind,
    /// Runs that may go on, and from where.
    open: Vec<(usize, Class)>,
}

impl PatternStream {
    pub(crate) fn new(marks: Arc<Marks>) -> Self {
        Self {
            marks,
            name: None,
            pending: Vec::new(),
            at: 0,
            floor: 0,
            planned: Vec::new(),
            cover: None,
            hits: 0,
            #[cfg(test)]
            visits: Cell::new(0),
        }
    }

    /// For one text that is the value of a field of this name.
    pub(crate) fn behind_name(name: &str, marks: Arc<Marks>) -> Self {
        Self { name: assign::meaning(name), ..Self::new(marks) }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        // Behind a name the whole text is judged.
        if self.name.is_some() { Vec::new() } else { self.work(false) }
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        if let Some(meaning) = self.name.take() {
            let found = assign::whole(&self.window(true), meaning, self.pending.len());
            self.planned.extend(found.unwrap_or_default());
        }
        let out = self.work(true);
        self.pending.clear();
        (self.at, self.floor) = (0, 0);
        out
    }

    pub(crate) fn hits(&self) -> usize {
        self.hits
    }

    #[cfg(test)]
    pub(crate) fn visits(&self) -> u64 {
        self.visits.get()
    }

    #[cfg(test)]
    pub(crate) fn held_back_bytes(&self) -> usize {
        self.pending.len()
    }

    fn work(&mut self, last: bool) -> Vec<u8> {
        let mut out = Vec::new();
        while self.at < self.pending.len() || self.cover.is_some() {
            if self.cover.is_none() {
                let from = self.at;
                if self.look(last).is_err() {
                    break;
                }
                out.extend_from_slice(&self.pending[from..self.at]);
                continue;
            }
            if self.grow(last).is_err() {
                break;
            }
            if let Some(cover) = self.cover.take() {
                out.extend_from_slice(self.marks.of(cover.kind).as_bytes());
                self.hits += 1;
                (self.at, self.floor) = (cover.end, cover.end);
            }
        }
        self.forget();
        out
    }

    /// Asks what begins at this place, and goes on to the next or into a cover.
    fn look(&mut self, last: bool) -> Look<()> {
        let window = self.window(last);
        let next = match window.item(self.at)? {
            Item::Known(end) | Item::Masked(end) => end,
            Item::Byte(_) | Item::End => {
                let found = rules::find(&window, self.at)?;
                self.planned.extend(found);
                self.planned.sort_by_key(|found| (found.start, found.kind));
                self.at + 1
            }
        };
        if self.planned.first().is_some_and(|found| found.start <= self.at) {
            let first = self.planned.remove(0);
            self.cover = Some(Cover::new(first));
        } else {
            if next > self.at + 1 {
                self.floor = next;
            }
            let planned = self.planned.first().map_or(usize::MAX, |found| found.start);
            let next = self.window(last).next_start(next).min(planned);
            self.at = next;
        }
        Ok(())
    }

    /// Follows the runs of the cover, and joins what it overlaps.
    fn grow(&mut self, last: bool) -> Look<()> {
        let Some(mut cover) = self.cover.take() else { return Ok(()) };
        let went = self.grown(&mut cover, last);
        // What is covered need not be kept: it is masked in any case.
        self.at = cover.open.iter().map(|(at, _)| *at).fold(cover.end, usize::min);
        self.cover = Some(cover);
        went
    }

    fn grown(&mut self, cover: &mut Cover, last: bool) -> Look<()> {
        loop {
            while self.planned.first().is_some_and(|found| found.start < cover.end) {
                cover.join(self.planned.remove(0));
            }
            let Some((at, class)) = cover.open.last_mut() else { return Ok(()) };
            match run::step(&self.window(last), *class, *at)? {
                Some(next) => {
                    *at = next;
                    cover.end = cover.end.max(next);
                }
                None => drop(cover.open.pop()),
            }
        }
    }

    fn window(&self, last: bool) -> Window<'_> {
        Window::new(
            &self.pending,
            self.floor,
            last,
            #[cfg(test)]
            &self.visits,
        )
    }

    /// Drops what no rule looks back at.
    fn forget(&mut self) {
        let gone = self.at.saturating_sub(LOOK_BACK);
        self.pending.drain(..gone);
        self.at -= gone;
        self.floor = self.floor.saturating_sub(gone);
        for found in &mut self.planned {
            found.start -= gone;
            found.end -= gone;
        }
        if let Some(cover) = &mut self.cover {
            cover.end -= gone;
            cover.open.iter_mut().for_each(|(at, _)| *at -= gone);
        }
    }
}

/// Whether the whole text is a secret, or holds one, if it is the value of a
/// field of this name.
pub(crate) fn is_secret_field(name: &str, text: &str) -> bool {
    #[cfg(test)]
    let visits = Cell::new(0);
    let window = Window::new(
        text.as_bytes(),
        0,
        true,
        #[cfg(test)]
        &visits,
    );
    let found = |meaning| assign::whole(&window, meaning, text.len()).unwrap_or_default();
    assign::meaning(name).and_then(found).is_some()
}

impl Cover {
    fn new(found: Found) -> Self {
        let open = found.open.map(|class| (found.end, class)).into_iter().collect();
        Self { end: found.end, kind: found.kind, open }
    }

    fn join(&mut self, found: Found) {
        self.end = self.end.max(found.end);
        self.open.extend(found.open.map(|class| (found.end, class)));
    }
}
