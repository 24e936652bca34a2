//! An account, its clock, a record of all calls, and shorthand for what tests do.

use std::{cell::RefCell, future::Future, path::PathBuf, rc::Rc, time::Duration};

use machinepool::{
    clock::{Clock as _, Timestamp},
    cloud::{
        CloudError,
        recorded::{Call, Moment, Recorded},
        sandbox::{ManualClock, Sandbox, Seed, World},
    },
    contract::{
        inputs::Inputs,
        outputs::Outputs,
        problem::Diagnostic,
        request::{Request, Scope},
    },
    engine::{
        self, Applied, Planned, Teardown,
        context::{Context, Event, Interrupt, Interrupter, Progress},
        rollout::Cancelled,
        status::Looked,
    },
    error::Failure,
    model::{
        names::Names,
        observed::{Known, TemplateVersion},
        plan::Counts,
        rollout::Rollout,
    },
};
use serde_json::Value;

/// The group of the pool that all tests are about.
pub(crate) const GROUP: &str = "captf-team-a-demo-pool-0-43c6d828";

/// How long a command may take, as on the command line.
const TIMEOUT: Duration = Duration::from_mins(45);

type Fault = Box<dyn FnMut(Moment, &Call<'_>) -> Option<CloudError>>;

/// An account and everything around it.
pub(crate) struct Lab {
    pub(crate) cloud: Recorded<Sandbox>,
    pub(crate) clock: Rc<ManualClock>,
    /// What a state file says of the pool.
    pub(crate) known: Known,
    /// Raises the interrupt of the command that runs.
    pub(crate) interrupter: Rc<RefCell<Option<Interrupter>>>,
    fault: Rc<RefCell<Option<Fault>>>,
    told: Told,
}

/// The warnings of commands, as they run.
#[derive(Default)]
struct Told(RefCell<Vec<Diagnostic>>);

impl Progress for Told {
    fn tell(&self, event: Event) {
        if let Event::Warning(warning) = event {
            self.0.borrow_mut().push(warning);
        }
    }
}

/// A file of the scenarios' directory.
pub(crate) fn scenarios() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios")
}

pub(crate) fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A merge patch (RFC 7396): objects are merged, `null` removes, everything else replaces.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let object = target.as_object_mut().unwrap();
    for (key, value) in fields {
        if value.is_null() {
            object.remove(key);
        } else {
            merge(object.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Two merge patches in one.
pub(crate) fn both(mut one: Value, other: &Value) -> Value {
    merge(&mut one, other);
    one
}

/// The shared inputs.
pub(crate) fn base_inputs() -> Value {
    serde_json::from_str(&read(&scenarios().join("inputs.json"))).unwrap()
}

fn inputs(value: &Value) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.add_file("inputs", value.to_string().as_bytes()).unwrap();
    inputs
}

/// The request that inputs make.
pub(crate) fn request(value: &Value) -> Request {
    Request::parse(&inputs(value)).unwrap_or_else(|problems| panic!("{:#?}", problems.0))
}

/// The request that the shared inputs make, changed by a merge patch.
pub(crate) fn patched(patch: Value) -> Request {
    let mut value = base_inputs();
    merge(&mut value, &patch);
    request(&value)
}

/// Runs to the end. Futures of the sandbox wait for nothing but the manual clock.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

impl Lab {
    /// The account of `account.json`: no pool of ours, but several things of other people.
    pub(crate) fn new() -> Self {
        let world: World = serde_json::from_str(&read(&scenarios().join("account.json"))).unwrap();
        Self::of(world, ManualClock::default(), Known::default())
    }

    fn of(world: World, clock: ManualClock, known: Known) -> Self {
        let clock = Rc::new(clock);
        let seed = Seed { region: world.region.clone(), ..Seed::default() };
        let sandbox = Sandbox::in_memory(&seed, clock.clone());
        sandbox.edit(|new| *new = world);
        let fault: Rc<RefCell<Option<Fault>>> = Rc::default();
        let hook = Rc::clone(&fault);
        let cloud =
            Recorded::new(sandbox).with_hook(move |moment, call| hook.borrow_mut().as_mut()?(moment, call));
        Self { cloud, clock, known, interrupter: Rc::default(), fault, told: Told::default() }
    }

    /// Another account in the same state at the same time.
    pub(crate) fn fork(&self) -> Self {
        Self::of(self.world(), ManualClock::starting_at(self.clock.now()), self.known.clone())
    }

    /// From now on every call is asked about.
    pub(crate) fn set_fault(&self, fault: impl FnMut(Moment, &Call<'_>) -> Option<CloudError> + 'static) {
        self.cloud.clear();
        *self.fault.borrow_mut() = Some(Box::new(fault));
    }

    pub(crate) fn clear_fault(&self) {
        *self.fault.borrow_mut() = None;
    }

    pub(crate) fn world(&self) -> World {
        self.cloud.inner().world()
    }

    /// Changes the account by somebody else's hands.
    pub(crate) fn edit<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        self.cloud.inner().edit(change)
    }

    /// Lets time pass, and everything happen that is due.
    pub(crate) fn wait(&self, duration: Duration) {
        self.clock.advance(duration);
        self.edit(|_| ());
    }

    pub(crate) fn plan(&self, request: &Request) -> Result<Planned, Failure> {
        run(engine::plan_with(&self.cloud, request, &self.known))
    }

    pub(crate) fn apply(&self, request: &Request) -> Result<Applied, Failure> {
        self.with(async |context| {
            let planned = engine::plan_with(&self.cloud, request, &self.known).await?;
            engine::apply(context, request, &planned).await
        })
    }

    pub(crate) fn apply_planned(&self, request: &Request, planned: &Planned) -> Result<Applied, Failure> {
        self.with(async |context| engine::apply(context, request, planned).await)
    }

    pub(crate) fn plan_destroy(&self, scope: &Scope) -> Result<Teardown, Failure> {
        run(engine::plan_destroy(&self.cloud, scope))
    }

    pub(crate) fn destroy(&self, scope: &Scope) -> Result<Counts, Failure> {
        self.with(async |context| {
            let teardown = engine::plan_destroy(&self.cloud, scope).await?;
            engine::destroy(context, &teardown).await
        })
    }

    pub(crate) fn destroy_planned(&self, teardown: &Teardown) -> Result<Counts, Failure> {
        self.with(async |context| engine::destroy(context, teardown).await)
    }

    pub(crate) fn await_roll(&self, scope: &Scope, started: Option<&str>) -> Result<(), Failure> {
        self.with(async |context| engine::await_roll(context, scope, started).await)
    }

    /// The time in the account.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn look(&self, scope: &Scope, request: Option<&Request>) -> Result<Looked, Failure> {
        run(engine::status::look(&self.cloud, scope, request))
    }

    pub(crate) fn look_again(&self, scope: &Scope, versions: &[TemplateVersion]) -> Result<Looked, Failure> {
        run(engine::status::look_again(&self.cloud, scope, None, versions))
    }

    /// What a `rollout start` decides; carried out if there is something to start.
    pub(crate) fn start_rollout(&self, request: &Request) -> Result<Rollout, Failure> {
        self.with(async |context| {
            let planned = engine::plan(&self.cloud, request).await?;
            let rollout = engine::rollout::plan_rollout(&planned)?;
            if let Rollout::Start(plan) = &rollout {
                let planned = Planned { plan: plan.clone(), ..planned };
                assert!(!engine::rollout::start(context, &planned).await?.is_empty());
            }
            Ok(rollout)
        })
    }

    pub(crate) fn cancel_rollout(&self, scope: &Scope) -> Result<Cancelled, Failure> {
        self.with(async |context| engine::rollout::cancel(context, scope).await)
    }

    pub(crate) fn outputs(&self, scope: &Scope) -> Result<Outputs, Failure> {
        run(engine::outputs(&self.cloud, scope))
    }

    /// The warnings that were told since this was asked last.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        self.told.0.take()
    }

    fn with<T>(&self, work: impl AsyncFnOnce(&Context<'_>) -> T) -> T {
        let (interrupter, interrupt) = Interrupt::new();
        *self.interrupter.borrow_mut() = Some(interrupter);
        let context = Context {
            cloud: &self.cloud,
            clock: &*self.clock,
            progress: &self.told,
            interrupt: &interrupt,
            deadline: self.clock.now().plus(TIMEOUT),
        };
        run(work(&context))
    }

    /// Applies, lets everything settle, and applies again until the plan is empty and nothing is left to
    /// clean up; the panic says what is left.
    pub(crate) fn settle(&self, request: &Request, about: &str) {
        for _ in 0..3 {
            self.wait(Duration::from_hours(2));
            let applied = self.apply(request);
            applied.unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
        }
        let plan = self.plan(request).unwrap().plan;
        assert!(plan.changes.is_empty() && plan.stages.is_empty(), "{about}: is not settled: {plan:#?}");
    }
}

/// The group's name is the one that the tests know.
#[test]
fn the_pool_is_the_one_meant() {
    assert_eq!(Names::of(&patched(serde_json::json!({})).scope).group, GROUP);
}
