/**
 * Composes the scripts that decide requests, encodes Redis keys and arguments, and reads
 * replies. Internal: not for users of the library.
 * <p>
 * A {@code Shape} is everything that a script depends on; the {@code Composer} makes the
 * script for it. The resource {@code request.lua} says what is done with a request, step
 * by step; the {@code Fragment} of an algorithm says how. A {@code Place} is what lines
 * are written for, such as one limit of one identifier; {@code Words} defines what words
 * stand for there. A script takes any number of requests of its shape. Each has the same
 * number of Redis keys: those of counts, then those of the blocks of its identifiers,
 * then those of denials where a policy has a penalty; and one argument: numbers
 * (big-endian doubles), the names of its policies, and its metadata, if that is used. The
 * reply has one value for each request: a byte (1 if allowed) and numbers, then the same
 * for each of its policies in shadow mode; or the text of an error. If a request is
 * denied, the numbers end with two for each policy with a penalty and identifier: when
 * its block ends, and how long it lasts, or 0. Requests are decided one after the other,
 * and an error in one does not affect the others.
 *
 * <h2>Fragments</h2> The Lua of an algorithm is a resource beside its class. It begins
 * with comments, which describe the state and declare variables:
 * <ul>
 * <li>{@code -- @slot a, b}: one of each for each policy and identifier</li>
 * <li>{@code -- @limit a, b}: one of each for each limit of these</li>
 * <li>{@code -- @argument a, b}: names of the numbers that
 * {@link io.github.ratelimit.Algorithm#arguments} returns for a limit</li>
 * </ul>
 * Sections follow, each begun by a line {@code --- name}. Each becomes a block, which may
 * have further {@code local}s. Variables are never declared {@code local}; they are
 * {@code nil} at first.
 * <ul>
 * <li>{@code functions} (optional): {@code local function}s and other locals, each
 * declared at the start of a line. They do not see the variables, but have them as
 * parameters</li>
 * <li>{@code load}: sets all variables from {@code now} and the stored {@code state},
 * which may be {@code false}. Sets {@code corrected = true} if the state is impossible
 * under the current clock and options, and {@code lasting = true} if {@code add} does not
 * change when the stored state expires: it then keeps its expiry, which is cheaper than
 * writing it again. A fragment whose {@code load} does not name {@code state} reads
 * {@code key} itself</li>
 * <li>{@code wait} (of one limit): sets {@code wait}, which is 0, to the time until
 * {@code cost} is allowed; the cost is at least 1 and at most {@code LARGEST}</li>
 * <li>{@code add}: uses {@code cost}, and stores {@code metadata}, or the number
 * {@code call} of the request. With {@code --[if CHARGE]} beyond the quota as well</li>
 * <li>{@code refund}: gives {@code cost} back, or removes the {@code call}. With
 * {@code --[if CANCEL]} what was used at the time {@code since}</li>
 * <li>{@code remaining} (of one limit): sets {@code remaining}, which is 0, to what is
 * left</li>
 * <li>{@code ttl}: sets {@code ttl}, which is 0, to how long the state matters; 0 deletes
 * it</li>
 * <li>{@code state}: sets {@code state}, which is {@code nil}, to what is to be stored;
 * {@code nil} if it was already written</li>
 * <li>{@code history} (optional): appends to the list {@code history}: for each request,
 * newest first, its time, cost and metadata, of those before the time {@code before} and
 * no more than {@code most}; or for each window the index of its limit (from 0), its end
 * and its count</li>
 * </ul>
 * Words in capital letters are numbers: for each limit {@code QUOTA}, {@code LARGEST}
 * (the largest cost that it could ever allow), {@code WINDOW} and {@code INDEX} (from 1);
 * for all limits {@code LIMITS} (their number), {@code LONGEST} (the longest window), and
 * the constants of the algorithm. All but {@code QUOTA} and {@code LARGEST} are constants
 * of the script. All times are in microseconds.
 * <p>
 * Instructions are lines of their own: {@code --[each limit]} and {@code --[last limit]}
 * repeat the lines up to their {@code --[end]}, each time as a block; {@code --[if NAME]}
 * and {@code --[if not NAME]}, {@code --[else]}, {@code --[end]} choose by a constant,
 * which is true unless it is 0. In a line, {@code each(a, b)} stands for {@code a} and
 * {@code b} of each limit, separated by commas, and in a string {@code each(x)} for as
 * many {@code x} as there are limits:
 * {@code each(finish, count) = struct.unpack('>each(I7I7)', state)}. It has at most five
 * words, because Lua has 250 registers, and a policy up to 20 limits.
 * <p>
 * Functions of {@code math}, {@code string}, {@code struct}, {@code table} and
 * {@code redis} become locals of the script. Words are replaced outside of strings and
 * comments and not after a dot. Comments are left out. Words that end with an underscore
 * belong to {@code request.lua}, which has the same form, and to the composer.
 */
@NullMarked
package io.github.ratelimit.redis.script;

import org.jspecify.annotations.NullMarked;
