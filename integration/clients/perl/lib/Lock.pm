# The classic lock on one Redis: SET NX PX, and scripts that compare the token
# before they touch the key. Any trouble that is not an answer dies.
package Lock;
use v5.30;
use warnings;

use Digest::SHA 'sha1_hex';

my $RELEASE = <<'LUA';
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
else
    return 0
end
LUA

my $EXTEND = <<'LUA';
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
else
    return 0
end
LUA

# A contender: a connection of its own, and the token of the lock it holds.
sub new {
    my ($class, $library, $server, $key) = @_;
    my $redis = $library->new(server => $server, reconnect => 0, cnx_timeout => 5, read_timeout => 5, write_timeout => 5);
    return bless {redis => $redis, key => $key, token => 'none'}, $class;
}

sub take {
    my ($self, $ttl_ms) = @_;
    $self->{token} = token();
    my $reply = $self->{redis}->set($self->{key}, $self->{token}, 'NX', 'PX', $ttl_ms);
    return 0 unless defined $reply;
    return 1 if $reply eq 'OK';
    die "SET was answered $reply\n";
}

sub release { my $self = shift; return $self->script($RELEASE) }

sub extend { my ($self, $ttl_ms) = @_; return $self->script($EXTEND, $ttl_ms) }

sub held {
    my $self  = shift;
    my $value = $self->{redis}->get($self->{key});
    return defined $value && $value eq $self->{token};
}

sub forget_scripts { my $self = shift; $self->{redis}->script_flush }

# By its sha, and in full where the server does not know it.
sub script {
    my ($self, $script, @arguments) = @_;
    my @rest  = (1, $self->{key}, $self->{token}, @arguments);
    my $reply = eval { $self->{redis}->evalsha(sha1_hex($script), @rest) };
    if ($@) {
        die $@ unless $@ =~ /NOSCRIPT No matching script/;
        $reply = $self->{redis}->eval($script, @rest);
    }
    die "a script was answered $reply\n" unless $reply =~ /^[01]$/;
    return $reply;
}

sub token {
    open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!";
    read($random, my $bytes, 20) == 20 or die "/dev/urandom: $!";
    return unpack 'H*', $bytes;
}

1;
