//! Many contenders, one counter that is read and written back under the lock.
//! Two holders at a time would lose updates.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use rslock::LockManager;
use tokio::task::JoinSet;
use tokio::time::sleep;

const CONTENDERS: usize = 20;
const DURING: Duration = Duration::from_secs(5);
const LEAST: i64 = 30; // if there are fewer by then it goes on

static COUNTER: AtomicI64 = AtomicI64::new(0);
static HOLDERS: AtomicI64 = AtomicI64::new(0);

pub async fn run(address: &str) -> Result<String, String> {
    let end = Instant::now() + DURING;
    let mut contenders = JoinSet::new();
    for _ in 0..CONTENDERS {
        contenders.spawn(contend(address.to_string(), end));
    }
    let mut held = 0;
    while let Some(done) = contenders.join_next().await {
        held += done.map_err(|error| error.to_string())??;
    }
    let counted = COUNTER.load(SeqCst);
    if counted != held {
        return Err(format!("held {held} times, counted {counted}: updates were lost"));
    }
    Ok(format!("{held} guarded increments by {CONTENDERS} contenders"))
}

async fn contend(address: String, end: Instant) -> Result<i64, String> {
    // With the library's own retries, each contender with its own connection.
    let manager = LockManager::new(vec![address]);
    let mut held = 0;
    while Instant::now() < end || COUNTER.load(SeqCst) < LEAST {
        let guard = manager
            .acquire("rslock:counter", Duration::from_secs(5))
            .await
            .map_err(|error| error.to_string())?;
        if HOLDERS.fetch_add(1, SeqCst) != 0 {
            return Err("two held it together".to_string());
        }
        let value = COUNTER.load(SeqCst);
        sleep(Duration::from_millis(1)).await;
        COUNTER.store(value + 1, SeqCst);
        HOLDERS.fetch_sub(1, SeqCst);
        guard.release().await;
        held += 1;
    }
    Ok(held)
}
