# What is asked of the lock, each scenario with a key of its own.
package Scenarios;
use v5.30;
use warnings;

use Lock;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $TTL   = 10_000;
my $SHORT = 600;

sub all {
    my ($library, $server) = @_;
    my $two = sub {
        my ($what, $run) = @_;
        my $key = "$library:" . $what =~ s/\W+/-/gr;
        return [$what, sub { $run->(map { Lock->new($library, $server, $key) } 1 .. 2) }];
    };
    return (
        $two->('lock and unlock',                  \&lock_and_unlock),
        $two->('two contenders, one wins',         \&one_wins),
        $two->('release by a stranger is refused', \&stranger),
        $two->('extend',                           \&extend),
        $two->('expiry frees it',                  \&expiry),
        $two->('NOSCRIPT path',                    \&noscript),
    );
}

sub hold { my ($true, $why) = @_; $true or die "$why\n" }

sub lock_and_unlock {
    my $a = shift;
    hold($a->take($TTL), 'a free lock was refused');
    hold($a->held,       'the lock is not there once it is had');
    hold($a->release,    'the holder could not release it');
    hold(!$a->held,      'the lock is there after its release');
    hold(!$a->release,   'it was released twice');
}

sub one_wins {
    my ($a, $b) = @_;
    hold($a->take($TTL),  'a free lock was refused');
    hold(!$b->take($TTL), 'it was had by two');
    hold($a->release,     'the holder could not release it');
    hold($b->take($TTL),  'it was refused after its release');
    hold($b->release,     'the second holder could not release it');
}

sub stranger {
    my ($a, $b) = @_;
    hold($a->take($TTL),    'a free lock was refused');
    hold(!$b->release,      'a stranger released it');
    hold(!$b->extend($TTL), 'a stranger extended it');
    hold($a->held,          'the holder lost it to a stranger');
    hold($a->release,       'the holder could not release it');
}

sub extend {
    my ($a, $b) = @_;
    hold($a->take($SHORT), 'a free lock was refused');
    hold($a->extend($TTL), 'the holder could not extend it');
    sleep(($SHORT + 200) / 1000);
    hold(!$b->take($TTL),   'it ended although it was extended');
    hold($a->release,       'the holder could not release it');
    hold(!$a->extend($TTL), 'it was extended after its release');
}

sub expiry {
    my ($a, $b) = @_;
    my $begun = clock_gettime(CLOCK_MONOTONIC);
    my $after = sub { 1000 * (clock_gettime(CLOCK_MONOTONIC) - $begun) };
    hold($a->take($SHORT), 'a free lock was refused');
    until ($b->take($TTL)) {
        hold($after->() < 5 * $SHORT, 'it did not end');
        sleep(0.02);
    }
    # A Redis reads its clock to the millisecond.
    hold($after->() >= $SHORT - 1, 'it was free before its ttl');
    hold(!$a->release,             q(the first holder released what is another's now));
    hold($b->release,              'the second holder could not release it');
}

sub noscript {
    my ($a, $b) = @_;
    hold($a->take($TTL), 'a free lock was refused');
    $b->forget_scripts;
    hold($a->extend($TTL), 'the holder could not extend it');
    $b->forget_scripts;
    hold($a->release, 'the holder could not release it');
    hold(!$a->held,   'the lock is there after its release');
}

1;
