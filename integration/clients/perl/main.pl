# Perl's clients through the proxy, for all that a lock is asked to do. The
# libraries are not modified, and are told nothing but the address.
#
# usage: main.pl HOST PORT
use v5.30;
use warnings;

use Counter;
use Scenarios;

my @libraries = ('Redis', 'Redis::Fast');

@ARGV == 2 or die "usage: main.pl HOST PORT\n";
my $server = "$ARGV[0]:$ARGV[1]";
$| = 1;

my $failed = 0;
for my $library (@libraries) {
    eval "require $library" or die $@;
    my $version = $library->VERSION;
    my (@passed, $broken);
    my $judge = sub {
        my ($what, $run) = @_;
        my $said = eval { $run->() };
        if ($@) {
            $failed = $broken = 1;
            chomp(my $why = $@);
            say "FAIL $library $version: $what: ", $why =~ s/\s*\n\s*/ /gr;
        } else {
            push @passed, $said;
        }
    };

    for my $scenario (Scenarios::all($library, $server)) {
        my ($what, $run) = @$scenario;
        $judge->($what, sub { $run->(); $what });
    }
    say "counter begins $library";
    my $counted = eval { Counter::run($library, $server) };
    my $trouble = $@;
    say "counter ends $library";
    $judge->('guarded counter', sub { die $trouble if $trouble; $counted });

    say "ok $library $version: ", join ', ', @passed unless $broken;
}
exit $failed;
