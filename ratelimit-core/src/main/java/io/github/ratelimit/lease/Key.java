package io.github.ratelimit.lease;

import io.github.ratelimit.Identifier;

/**
 * The key of counts: policies of the same name share them, whatever their quotas.
 */
record Key(String policy, Identifier identifier) {

}
