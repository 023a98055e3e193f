package io.github.ratelimit.denial;

import io.github.ratelimit.Identifier;

/**
 * Whose counts are meant: policies of one name share them, whatever their quotas.
 */
record Account(String policy, Identifier identifier) {

}
