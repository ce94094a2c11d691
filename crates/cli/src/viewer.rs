//! Stays with one run: tells what happens as it becomes durable, until the
//! run rests, and hears signals meanwhile. It only looks on. The run has a
//! worker of its own and goes on when the viewer is gone.

mod ending;
mod frame;
mod line;
mod live;
mod outcome;
mod screen;
mod signals;
mod tell;

use std::time::Duration;

use host::api::{Code, Followed, RunView, SignalAnswer, SignalVerb};
use host::{Host, Tether};

use crate::command::recover;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use signals::Heard;
use tell::Teller;

pub(crate) use ending::{next_steps, steps, summary};
pub(crate) use signals::Signals;

/// How long the viewer waits for events before it listens for signals again.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a second Ctrl-C counts as one.
const SECOND_WITHIN: Duration = Duration::from_secs(2);

/// How often a viewer tries to record what a dead owner left. Somebody else
/// may be doing the same just then.
const RECOVERIES: u32 = 3;

/// What the viewer is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It started the run, so a signal to it is about the run.
    Starter { foreground: bool },
    /// It came to look; its leaving means nothing.
    Onlooker,
}

#[derive(Debug)]
pub(crate) struct Visit<'a> {
    pub(crate) run: &'a str,
    /// Heard from before the run was started.
    pub(crate) signals: &'a Signals,
    /// Events are wanted one by one, from this one on.
    pub(crate) from: Option<u64>,
    pub(crate) role: Role,
    /// To the worker of the run, for who started it.
    pub(crate) tether: Tether,
}

/// Watches the run until it rests, and exits as the run has ended. Runs of
/// others that lost their owner are recorded afterwards.
pub(crate) fn attend(host: &Host, console: &Console, visit: &Visit<'_>) -> Result<Exit, CliError> {
    let teller = Teller::new(host, console, visit);
    if teller.only_tells_the_end()
        && let Some(exit) = outcome::told(host, console, visit)?
    {
        return Ok(exit);
    }
    let mut viewer =
        Viewer { host, console, visit, teller, cancelling: None, others_are_owned: false };
    let mut follower = host.follow(visit.run)?.tethered(visit.tether.clone());
    let mut fruitless = 0;
    loop {
        // A run without its first event can neither be shown nor told a word.
        let heard = match (follower.seq(), fruitless) {
            (0, 0) => None,
            (_, 0) => visit.signals.take(),
            (_, _) => visit.signals.wait(PATIENCE),
        };
        if let Some(heard) = heard
            && let Some(exit) = viewer.react(heard, &follower.view())?
        {
            return Ok(exit);
        }
        if visit.signals.was_away() {
            viewer.teller.come_back();
        }
        viewer.teller.refresh(&mut follower)?;
        match follower.next(PATIENCE)? {
            Followed::Events(events) => {
                fruitless = 0;
                viewer.teller.events(&events, &follower)?;
                // Its worker still has to let go of it.
                viewer.others_are_owned = follower.is_over()
                    && visit.role != Role::Onlooker
                    && host.others_are_owned(visit.run);
            }
            Followed::Quiet => {}
            Followed::Rest => {
                let end = viewer.rest(&viewer.teller.last_view(&follower));
                // The process ends with it; to take it apart takes as long as
                // to read it.
                std::mem::forget(follower);
                return end;
            }
            Followed::Abandoned => {
                viewer.teller.make_way()?;
                match recover::this(host, console, visit.run)? {
                    Some(refused) if fruitless == RECOVERIES => return Err(refused.into()),
                    Some(_) => fruitless += 1,
                    None if fruitless == RECOVERIES => return viewer.lost(&follower.view()),
                    None => fruitless += 1,
                }
            }
        }
    }
}

struct Viewer<'a> {
    host: &'a Host,
    console: &'a Console,
    visit: &'a Visit<'a>,
    teller: Teller<'a>,
    /// The signal on which the run is being cancelled.
    cancelling: Option<Heard>,
    /// No other run waits to be recorded.
    others_are_owned: bool,
}

impl Viewer<'_> {
    fn rest(&mut self, view: &RunView) -> Result<Exit, CliError> {
        self.teller.end(view)?;
        if self.visit.role != Role::Onlooker && !self.others_are_owned {
            recover::others(self.host, self.console, self.visit.run);
        }
        Ok(self.cancelling.map_or_else(|| Exit::of(view.look().exit), Heard::exit))
    }

    /// The owner is dead and its end could not be recorded.
    fn lost(&mut self, view: &RunView) -> Result<Exit, CliError> {
        self.teller.end(view)?;
        Ok(self.cancelling.map_or(Exit::UnknownOutcome, Heard::exit))
    }

    fn react(&mut self, heard: Heard, view: &RunView) -> Result<Option<Exit>, CliError> {
        match self.visit.role {
            Role::Onlooker => self.leave(heard, view).map(Some),
            Role::Starter { foreground } if foreground || !self.console.is_interactive => {
                self.cancel_and_stay(heard)
            }
            Role::Starter { .. } => match heard {
                Heard::Interrupt => self.detach(view).map(Some),
                Heard::Terminate | Heard::HangUp => self.leave(heard, view).map(Some),
            },
        }
    }

    fn leave(&mut self, heard: Heard, view: &RunView) -> Result<Exit, CliError> {
        if heard != Heard::HangUp {
            self.teller.left(view)?;
        }
        Ok(heard.exit())
    }

    /// The first Ctrl-C leaves the run alone; a second one soon after means
    /// the run.
    fn detach(&mut self, view: &RunView) -> Result<Exit, CliError> {
        self.teller.left(view)?;
        if self.visit.signals.wait(SECOND_WITHIN) == Some(Heard::Interrupt)
            && let SignalAnswer::Done { .. } = self.ask_to_cancel(Heard::Interrupt)?
        {
            self.talk("the run is cancelled and its processes are gone");
        }
        Ok(Exit::Interrupted)
    }

    /// Cancels the run and goes on watching, up to its end. A second signal
    /// leaves at once.
    fn cancel_and_stay(&mut self, heard: Heard) -> Result<Option<Exit>, CliError> {
        if self.cancelling.replace(heard).is_some() {
            return Ok(Some(heard.exit()));
        }
        self.ask_to_cancel(heard)?;
        Ok(None)
    }

    fn ask_to_cancel(&mut self, heard: Heard) -> Result<SignalAnswer, CliError> {
        self.teller.make_way()?;
        self.talk(&format!("\ncancelling the run ({})", heard.word()));
        let note = Some(format!("its viewer received {}", heard.word()));
        let answer = match self.host.signal(self.visit.run, SignalVerb::Cancel, note) {
            Ok(answer) => answer,
            Err(error) if error.code == Code::RunEnded => {
                SignalAnswer::Refused { code: error.code.word().to_owned(), message: error.message }
            }
            Err(error) => return Err(error.into()),
        };
        match &answer {
            SignalAnswer::Done { .. } => {}
            SignalAnswer::Refused { message, .. } => self.talk(&escape::line(message)),
            SignalAnswer::Queued { .. } => self.talk("queued, owner not answering"),
        }
        Ok(answer)
    }

    fn talk(&self, text: &str) {
        if !self.console.json {
            self.console.talk(text);
        }
    }
}
