//! The short scenarios: each takes a lock of its own and says why it failed.

use std::time::{Duration, Instant};

use rslock::{Lock, LockError, LockManager};
use tokio::time::sleep;

type Outcome = Result<(), String>;

const TTL: Duration = Duration::from_secs(10);

pub async fn run_all(address: &str) -> Vec<(&'static str, Outcome)> {
    vec![
        ("lock and unlock", lock_and_unlock(address).await),
        ("two contenders, one wins", one_wins(address).await),
        ("release by a stranger is refused", stranger(address).await),
        ("extend", extend(address).await),
        ("expiry frees it", expiry(address).await),
        ("NOSCRIPT path", noscript(address).await),
    ]
}

/// A client with a connection of its own, that tries once where it is refused.
pub fn client(address: &str) -> LockManager {
    let mut manager = LockManager::new(vec![address]);
    manager.set_retry(1, Duration::from_millis(1));
    manager
}

fn hold(what: bool, why: &str) -> Outcome {
    if what {
        Ok(())
    } else {
        Err(why.to_string())
    }
}

fn said(error: LockError) -> String {
    error.to_string()
}

/// Whether the lock is still there and still this holder's.
async fn held(manager: &LockManager, lock: &Lock) -> Result<bool, String> {
    match manager.is_freed(lock).await {
        Ok(freed) => Ok(!freed),
        Err(LockError::RedisKeyNotFound) | Err(LockError::RedisKeyMismatch) => Ok(false),
        Err(error) => Err(said(error)),
    }
}

/// Taking it must be answered as "taken", and not as any other trouble.
async fn refused(manager: &LockManager, key: &str) -> Result<bool, String> {
    match manager.lock(key, TTL).await {
        Ok(_) => Ok(false),
        Err(LockError::Unavailable) => Ok(true),
        Err(error) => Err(said(error)),
    }
}

async fn lock_and_unlock(address: &str) -> Outcome {
    let manager = client(address);
    let guard = manager.acquire("rslock:plain", TTL).await.map_err(said)?;
    hold(held(&manager, &guard.lock).await?, "the lock is not there once it is had")?;
    let lock = Lock {
        resource: guard.lock.resource.clone(),
        val: guard.lock.val.clone(),
        validity_time: guard.lock.validity_time,
        lock_manager: manager.clone(),
    };
    guard.release().await;
    hold(!held(&manager, &lock).await?, "the lock is there after its release")
}

async fn one_wins(address: &str) -> Outcome {
    let (one, other) = (client(address), client(address));
    let (a, b) = tokio::join!(one.lock("rslock:two", TTL), other.lock("rslock:two", TTL));
    let (winner, lock, loser) = match (a, b) {
        (Ok(lock), Err(LockError::Unavailable)) => (one, lock, other),
        (Err(LockError::Unavailable), Ok(lock)) => (other, lock, one),
        (a, b) => return Err(format!("{a:?} and {b:?}")),
    };
    hold(refused(&loser, "rslock:two").await?, "the loser had it while it was held")?;
    winner.unlock(&lock).await;
    let lock = loser.lock("rslock:two", TTL).await.map_err(said)?;
    loser.unlock(&lock).await;
    Ok(())
}

async fn stranger(address: &str) -> Outcome {
    let (owner, other) = (client(address), client(address));
    let lock = owner.lock("rslock:stranger", TTL).await.map_err(said)?;
    let forged = Lock {
        resource: lock.resource.clone(),
        val: other.get_unique_lock_id().map_err(|error| error.to_string())?,
        validity_time: lock.validity_time,
        lock_manager: other.clone(),
    };
    other.unlock(&forged).await;
    hold(held(&owner, &lock).await?, "a stranger released it")?;
    hold(other.extend(&forged, TTL).await.is_err(), "a stranger extended it")?;
    // A refused extend makes rslock send a release.
    hold(held(&owner, &lock).await?, "a stranger's extend released it")?;
    owner.unlock(&lock).await;
    hold(!held(&owner, &lock).await?, "the owner could not release it")
}

async fn extend(address: &str) -> Outcome {
    let manager = client(address);
    let short = Duration::from_millis(800);
    let lock = manager.lock("rslock:extend", short).await.map_err(said)?;
    let lock = manager.extend(&lock, TTL).await.map_err(said)?;
    sleep(short + Duration::from_millis(200)).await;
    hold(held(&manager, &lock).await?, "it ended although it was extended")?;
    manager.unlock(&lock).await;
    hold(
        matches!(manager.extend(&lock, TTL).await, Err(LockError::Unavailable)),
        "a lock that was released could be extended",
    )
}

async fn expiry(address: &str) -> Outcome {
    let (owner, other) = (client(address), client(address));
    let ttl = Duration::from_millis(600);
    let begun = Instant::now();
    owner.lock("rslock:expiry", ttl).await.map_err(said)?;
    hold(refused(&other, "rslock:expiry").await?, "it was had by two")?;
    while begun.elapsed() < 5 * ttl {
        if let Ok(lock) = other.lock("rslock:expiry", TTL).await {
            let after = begun.elapsed();
            other.unlock(&lock).await;
            return hold(after >= ttl, &format!("it was free after {after:?}, before its ttl"));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Err("it did not end".to_string())
}

async fn noscript(address: &str) -> Outcome {
    let manager = client(address);
    let lock = manager.lock("rslock:noscript", TTL).await.map_err(said)?;
    flush(address).await?;
    let lock = manager.extend(&lock, TTL).await.map_err(said)?;
    flush(address).await?;
    manager.unlock(&lock).await;
    hold(!held(&manager, &lock).await?, "the lock is there after its release")
}

async fn flush(address: &str) -> Outcome {
    let mut connection = redis::Client::open(address)
        .map_err(|error| error.to_string())?
        .get_multiplexed_async_connection()
        .await
        .map_err(|error| error.to_string())?;
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .query_async::<()>(&mut connection)
        .await
        .map_err(|error| error.to_string())
}
