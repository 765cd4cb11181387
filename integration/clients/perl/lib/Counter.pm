# Twenty processes and one counter in a file, which is read and written back
# under the lock. Two holders at a time would lose updates.
#
# NOQUORUM is no failure here: on a machine that stands still for a moment no
# master answers in time, and a contender asks again. It is counted, though.
package Counter;
use v5.30;
use warnings;

use Fcntl;
use File::Temp 'tempdir';
use Lock;
use Time::HiRes qw(sleep time);

my $CONTENDERS = 20;
my $SECONDS    = 5;
my $LEAST      = 30; # if there are fewer by then it goes on
my $TTL        = 5_000;

# Says what was run, or dies.
sub run {
    my ($library, $server) = @_;
    my $dir = tempdir(CLEANUP => 1);
    my $end = time + $SECONDS;
    store("$dir/counter", 0);

    my %contenders;
    for my $number (1 .. $CONTENDERS) {
        defined(my $pid = fork) or die "fork: $!\n";
        if ($pid == 0) {
            srand $$;
            my @done = eval { contend($dir, Lock->new($library, $server, "$library:counter"), $end) };
            store("$dir/done.$number", $@ || "@done");
            # Neither this process's copy of the directory nor that of the output is to be cleared up.
            require POSIX;
            POSIX::_exit(0);
        }
        $contenders{$pid} = $number;
    }
    waitpid $_, 0 for keys %contenders;

    my ($held, $without) = (0, 0);
    for my $number (values %contenders) {
        my $done = load("$dir/done.$number");
        die $done unless $done =~ /^(\d+) (\d+)$/;
        $held    += $1;
        $without += $2;
    }
    my $counted = load("$dir/counter");
    die "held $held times, counted $counted: updates were lost\n" if $held != $counted;
    return "$held guarded increments by $CONTENDERS contenders ($without times NOQUORUM)";
}

# How often the lock was held, and how often there was no quorum.
sub contend {
    my ($dir, $lock, $end) = @_;
    my ($held, $without) = (0, 0);
    my $ask = sub {
        my $reply = eval { $_[0]->() };
        return $reply unless $@;
        die $@ unless $@ =~ /NOQUORUM /;
        $without++;
        return undef;
    };
    while (time < $end || (load("$dir/counter") || 0) < $LEAST) {
        unless ($ask->(sub { $lock->take($TTL) })) {
            rest();
            next;
        }
        add_one($dir);
        $held++;
        # A release that had no quorum may have been carried out all the same:
        # then there is nothing left for the next one.
        for (my $before = 0; ; $before = 1, rest()) {
            my $reply = $ask->(sub { $lock->release }) // next;
            last if $reply || $before;
            die "the holder could not release it\n";
        }
    }
    return ($held, $without);
}

sub add_one {
    my $dir = shift;
    sysopen my $holder, "$dir/holder", O_CREAT | O_EXCL | O_WRONLY or die "two held it together\n";
    my $value = load("$dir/counter");
    sleep(0.001);
    store("$dir/counter", $value + 1);
    unlink "$dir/holder" or die "two held it together\n";
}

sub rest { sleep(0.02 + rand 0.04) }

sub load {
    my $path = shift;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

sub store {
    my ($path, $value) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $value;
    close $file or die "$path: $!\n";
}

1;
