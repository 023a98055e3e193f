/**
 * Composes the scripts that decide requests, encodes Redis keys and arguments, and reads
 * replies. Internal: not for users of the library.
 * <p>
 * A {@code Shape} is all that a script depends on; the {@code Composer} makes the script
 * of it. What is done with a request stands in {@code request.lua}, step by step; what an
 * algorithm does in each step, in its {@code Fragment}; what their words stand for in a
 * script, {@code Words} knows. A script takes any number of requests of its shape. Each
 * has so many Redis keys: what is counted, then the blocks of its identifiers; and one
 * argument: numbers (big-endian doubles), the names of its policies, and its metadata, if
 * that is used. The reply has one value for each: a byte (1 if it is allowed) and
 * numbers, then the same for each of its policies in shadow mode; or the text of an
 * error. Requests are decided one after the other, and an error of one is none of the
 * others.
 *
 * <h2>Fragments</h2> The Lua of an algorithm is a resource beside its class. It begins
 * with comments, in which stands what the state is, and which declare variables:
 * <ul>
 * <li>{@code -- @slot a, b}: one of each for each policy and identifier</li>
 * <li>{@code -- @limit a, b}: one of each for each limit of these</li>
 * <li>{@code -- @argument a, b}: names of the numbers that
 * {@link io.github.ratelimit.Algorithm#arguments} returns for a limit</li>
 * </ul>
 * Sections follow, each begun by a line {@code --- name}. Each is put into a block of its
 * own, where it may have further {@code local}s. Variables are never declared
 * {@code local}; they are {@code nil} at first.
 * <ul>
 * <li>{@code functions} (optional): {@code local function}s and other locals. They do not
 * see the variables, but have them as parameters</li>
 * <li>{@code load}: sets all variables by the {@code state} that is stored, or
 * {@code false}, and by {@code now}. Sets {@code corrected = true} if the state could not
 * have come about under the present clock and options. A fragment whose {@code load} does
 * not name {@code state} (with the constants that there are) reads {@code key} by
 * itself</li>
 * <li>{@code wait} (of one limit): sets {@code wait}, which is 0, to the time until
 * {@code cost} is allowed; the cost is at least 1 and at most {@code LARGEST}</li>
 * <li>{@code add}: uses {@code cost}, and remembers {@code metadata}. With
 * {@code --[if CHARGE]} beyond the quota as well</li>
 * <li>{@code refund}: gives {@code cost} back. With {@code --[if CANCEL]} what was used
 * at the time {@code since}</li>
 * <li>{@code remaining} (of one limit): sets {@code remaining}, which is 0, to what is
 * left</li>
 * <li>{@code ttl}: sets {@code ttl}, which is 0, to how long the state matters; 0 deletes
 * it</li>
 * <li>{@code state}: sets {@code state}, which is {@code nil}, to what is to be stored;
 * {@code nil} if it was written in place</li>
 * <li>{@code history} (optional): appends to the list {@code history}: for each request,
 * newest first, its time, cost and metadata, of those before the time {@code before} and
 * no more than {@code most}; or for each window the index of its limit (from 0), its end
 * and its count</li>
 * </ul>
 * Words in capital letters are numbers: for each limit {@code QUOTA}, {@code LARGEST}
 * (the largest cost that it could ever allow), {@code WINDOW} and {@code INDEX} (from 1);
 * for all {@code LIMITS} (how many there are), {@code LONGEST} (the longest window), and
 * the constants of the algorithm. All but {@code QUOTA} and {@code LARGEST} are constants
 * of the script. All times are in microseconds.
 * <p>
 * Instructions stand in lines of their own: {@code --[each limit]} and
 * {@code --[last limit]} repeat what stands up to their {@code --[end]}, each time in a
 * block of its own; {@code --[if NAME]} and {@code --[if not NAME]}, {@code --[else]},
 * {@code --[end]} choose by a constant, which is true unless it is 0. In a line,
 * {@code each(a, b)} stands for {@code a} and {@code b} of each limit, separated by
 * commas, and in a string {@code each(x)} for as many {@code x} as there are limits:
 * {@code each(finish, count) = struct.unpack('>each(I7I7)', state)}. It has at most five
 * words, because Lua has 250 registers, and a policy up to 20 limits.
 * <p>
 * Functions of {@code math}, {@code string}, {@code struct}, {@code table} and
 * {@code redis} become locals of the script by themselves. Names are whole words outside
 * of strings and comments that do not stand behind a dot. Comments are left out.
 * <p>
 * What ends with an underscore belongs to {@code request.lua}, which is of the same form:
 * {@code --[each slot_]} is for each policy and identifier, {@code --[each shadow_]} for
 * each policy in shadow mode, {@code --[each decided_]} for what is decided together:
 * each identifier of the one policy in shadow mode or, outside of these, each policy and
 * identifier that is not; {@code --[section_ name]} is for what stands in that section,
 * and {@code every_(a, b)} for {@code a} and {@code b} of each limit of what is decided
 * together.
 */
@NullMarked
package io.github.ratelimit.redis.script;

import org.jspecify.annotations.NullMarked;
