<?php

declare(strict_types=1);

namespace Vidimus;

/**
 * Client for a merchant's server. PHP 7.4 or newer, no other package.
 *
 *     $vidimus = new Vidimus('https://verify.example', getenv('API_KEY'));
 *     $created = $vidimus->create(['template' => 'age_over_18', 'purpose' => 'To sell you wine']);
 *     header('Location: ' . $created['page_url']);
 *
 * Verifications are arrays with the fields of the API. Every call throws a VidimusError when it fails. A call that is
 * safe to repeat is tried up to four times: without an answer, after a 5xx, and after a 429 once Retry-After has passed,
 * if that is within twice its `timeout`.
 *
 * @phpstan-type Verification array{id: string, status: 'pending'|'completed'|'failed'|'expired', claims?: array<string, mixed>, error?: array{code: string, message: string}, metadata?: array<string, string>, created_at: string, expires_at: string, page_url?: string}
 */
final class Vidimus
{
    private const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
    private const TRIES_MAX = 4;
    private const POLL_SECONDS_MAX = 5.0;
    /** Longer than the life of any session. */
    private const WAIT_SECONDS = 75 * 60;
    /** Over plain http everybody on the way could read the key: this machine, private addresses, and names of no public host. */
    private const PRIVATE_HOST = '/^((127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|\[(::1|f[cd][0-9a-f:]+)\]|[a-z0-9_-]+|.+\.(localhost|local|internal|lan|home\.arpa))$/Di';

    private string $base;
    private string $apiKey;
    private float $timeout;

    /** @param float $timeout limit in seconds for each silence of the service; a call is not repeated after twice that time */
    public function __construct(
        string $baseUrl,
        // A comment to PHP 7.4, which has no attributes.
        #[\SensitiveParameter]
        string $apiKey,
        float $timeout = 15.0
    ) {
        if (!preg_match('#^https?://[^/?\#@\s]+(/[^?\#\s]*)?$#D', $baseUrl) || !self::isSafe($baseUrl)) {
            throw new \InvalidArgumentException('baseUrl: give the address of the service, such as https://verify.example. Plain http is for private networks.');
        }
        if (!ini_get('allow_url_fopen')) {
            throw new \LogicException('php.ini: switch allow_url_fopen on; without it PHP opens no address');
        }
        // The value is not quoted: messages may be logged.
        if (!preg_match('/^vk_(test|live)_[A-Za-z0-9]{1,200}$/D', $apiKey)) {
            throw new \InvalidArgumentException('apiKey: give the whole API key, vk_test_ or vk_live_ and what follows');
        }
        [$this->base, $this->apiKey, $this->timeout] = [rtrim($baseUrl, '/'), $apiKey, self::checkedSeconds('timeout', $timeout)];
    }

    public static function isSafe(string $baseUrl): bool
    {
        return parse_url($baseUrl, PHP_URL_SCHEME) === 'https' || preg_match(self::PRIVATE_HOST, (string) parse_url($baseUrl, PHP_URL_HOST)) === 1;
    }

    /**
     * Creates exactly one session: all attempts carry one Idempotency-Key. Give your own to repeat after a crash.
     * `page_url` is the hosted page for the holder.
     *
     * @param array<string, mixed> $body
     * @return Verification
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        $key = $idempotencyKey ?? bin2hex(random_bytes(16));
        if (!preg_match('/^[\x21-\x7e]{1,255}$/D', $key)) {
            throw new \InvalidArgumentException('idempotencyKey: give 1 to 255 printable ASCII characters without spaces');
        }
        [$created, $headers] = $this->send('POST', '/v1/verifications', 'id', $body, ["Idempotency-Key: $key"], true);
        $found = preg_match('/<(https?:[^<>]+)>; rel="alternate"/', $headers['link'] ?? '', $link);
        return array_merge($created, ['page_url' => $found ? $link[1] : "{$this->base}/v/{$created['id']}"]);
    }

    /** @return Verification */
    public function get(string $id): array
    {
        return $this->send('GET', self::path($id), 'status', null, [], true)[0];
    }

    /**
     * One page, the newest first; `before` is the `created_at` of the last one seen.
     *
     * @return list<Verification>
     */
    public function list(int $limit = 20, ?string $before = null): array
    {
        $query = http_build_query(array_filter(['limit' => $limit, 'before' => $before]), '', '&');
        return $this->send('GET', "/v1/verifications?$query", 'data', null, [], true)[0]['data'];
    }

    /**
     * The verification once it has ended. Check its `status`: `completed`, `failed` and `expired` all return.
     *
     * @return Verification
     */
    public function wait(string $id, float $timeout = self::WAIT_SECONDS): array
    {
        $until = hrtime(true) / 1e9 + self::checkedSeconds('timeout', $timeout);
        [$found] = $this->send('GET', self::path($id), 'status', null, [], true, $until);
        for ($pause = 1.0; $found['status'] === 'pending'; $pause = min($pause * 1.5, self::POLL_SECONDS_MAX)) {
            $nap = $pause * (0.5 + self::fraction() / 2);
            $left = max($until - hrtime(true) / 1e9, 0);
            usleep((int) ceil(min($nap, $left) * 1e6));
            try {
                // The last look, when the time is over, has a second of its own.
                [$status] = $this->send('GET', self::path($id, '/status'), 'status', null, [], true, max($until, hrtime(true) / 1e9 + 1));
                $found = $status['status'] === 'pending' ? $found : $this->get($id);
            } catch (VidimusError $error) {
                if ($error->status !== null && $error->status < 500 && $error->status !== 429) {
                    throw $error;
                }
            }
            if ($found['status'] === 'pending' && $nap >= $left) {
                throw new VidimusError('still_pending', "The verification has not ended within $timeout seconds.");
            }
        }
        return $found;
    }

    /** @return Verification */
    public function cancel(string $id): array
    {
        return $this->send('POST', self::path($id, '/cancel'), 'status', null, [], true)[0];
    }

    /**
     * Exchanges the code of a redirect for the result, once. It is never repeated after a lost answer, because a second
     * use looks like a forged code: then `maybeDone` is true and nothing is proven; start a new session.
     *
     * @return Verification
     */
    public function redeem(string $id, string $responseCode): array
    {
        return $this->send('POST', self::path($id, '/redeem'), 'status', ['response_code' => $responseCode])[0];
    }

    /**
     * Erases a session for good; needs the scope `verifications:delete`.
     *
     * @return array{deleted: array<string, int>}
     */
    public function erase(string $id): array
    {
        return $this->send('DELETE', self::path($id), 'deleted', null, [], true)[0];
    }

    /** @return list<array<string, mixed>> */
    public function templates(): array
    {
        return $this->send('GET', '/v1/templates', 'data', null, [], true)[0]['data'];
    }

    /** @return array<string, mixed> */
    public function usage(): array
    {
        return $this->send('GET', '/v1/usage', 'day', null, [], true)[0];
    }

    private static function path(string $id, string $rest = ''): string
    {
        if ($id === '') {
            throw new \InvalidArgumentException('id: give the id of a verification, vs_ and what follows');
        }
        return '/v1/verifications/' . rawurlencode($id) . $rest;
    }

    /**
     * @param array<string, mixed>|null $body
     * @param list<string> $headers
     * @return array{array<string, mixed>, array<string, string>}
     */
    private function send(string $method, string $path, string $field, ?array $body = null, array $headers = [], bool $repeat = false, float $until = INF): array
    {
        $until = min($until, hrtime(true) / 1e9 + 2 * $this->timeout);
        for ($tried = 1, $maybeDone = false; ; $tried++) {
            try {
                return $this->attempt($method, $path, $field, $body, $headers, min($this->timeout, max($until - hrtime(true) / 1e9, 0.001)));
            } catch (VidimusError $error) {
                $maybeDone = $error->maybeDone = $maybeDone || $error->maybeDone;
                $pause = self::pauseAfter($error, $repeat, $tried);
                // A spent quota, for one, is over at midnight only.
                if ($pause === null || $tried === self::TRIES_MAX || hrtime(true) / 1e9 + $pause >= $until) {
                    throw $error;
                }
                usleep((int) ($pause * 1e6));
            }
        }
    }

    /** Seconds before the next attempt; null when the call must not be repeated. */
    private static function pauseAfter(VidimusError $error, bool $repeat, int $tried): ?float
    {
        $backoff = self::fraction() * 0.5 * 3 ** ($tried - 1);
        // Refused before any work was done.
        if ($error->status === 429) {
            return ($error->retryAfter ?? 1.0) + $backoff;
        }
        if ($error->errorCode === 'idempotency_key_in_flight') {
            return $backoff;
        }
        $isAway = $error->errorCode === 'no_answer' || ($error->status ?? 0) >= 500;
        return $repeat && $isAway ? max($backoff, $error->retryAfter ?? 0.0) : null;
    }

    /** @return array{array<string, mixed>, array<string, string>} */
    private function attempt(string $method, string $path, string $field, ?array $body, array $headers, float $limit): array
    {
        $text = $body === null ? null : json_encode($body, JSON_THROW_ON_ERROR);
        $type = $text === null ? [] : ['Content-Type: application/json'];
        $context = stream_context_create(['http' => [
            'method' => $method, 'content' => $text ?? '',
            'header' => ['Accept: application/json', "Authorization: Bearer {$this->apiKey}", 'Connection: close', ...$type, ...$headers],
            // A redirect would send the key to another host.
            'follow_location' => 0, 'ignore_errors' => true, 'timeout' => $limit,
        ]]);
        $mutates = $method !== 'GET';
        $stream = @fopen($this->base . $path, 'r', false, $context);
        $answer = $stream ? stream_get_contents($stream, self::ANSWER_BYTES_MAX + 1) : false;
        $state = $stream ? stream_get_meta_data($stream) : [];
        [$status, $received] = self::headersOf($state['wrapper_data'] ?? []);
        $isLong = strlen((string) $answer) > self::ANSWER_BYTES_MAX;
        $parsed = $isLong ? null : json_decode((string) $answer, true);
        // PHP does not say that an answer was cut off; no JSON of the service ends early.
        $isCut = !$isLong && !is_array($parsed) && $status < 300 && strncmp($received['content-type'] ?? '', 'application/json', 16) === 0;
        if ($status === 0 || $isCut || ($state['timed_out'] ?? false)) {
            throw new VidimusError('no_answer', 'The service could not be reached, or did not answer in time.', null, $mutates);
        }
        // Something else on the way may answer with JSON too.
        $found = is_array($parsed) ? $parsed[$field] ?? null : null;
        if ($status >= 200 && $status < 300 && ($field === 'data' ? is_array($found) : $found !== null)) {
            return [$parsed, $received];
        }
        throw self::refusal($status, $received, $parsed, $mutates && ($status >= 500 || $status < 300));
    }

    /** @param array<string, string> $headers */
    private static function refusal(int $status, array $headers, $parsed, bool $maybeDone): VidimusError
    {
        $error = is_array($parsed) ? ($parsed['error'] ?? null) : null;
        if (!is_array($error) || !is_string($error['code'] ?? null)) {
            $error = ['code' => 'unexpected_answer', 'message' => 'The answer is not from this service: the page of a proxy, a redirect, or too long.'];
        }
        $after = $headers['retry-after'] ?? '';
        $at = strtotime($after);
        $seconds = preg_match('/^[0-9]{1,9}$/D', $after) ? (float) $after : ($at === false ? null : max(0.0, $at - time()));
        $message = substr((string) ($error['message'] ?? ''), 0, 500);
        return new VidimusError($error['code'], $message, $status, $maybeDone, $headers['x-request-id'] ?? null, $seconds);
    }

    /** @return array{int, array<string, string>} */
    private static function headersOf(array $lines): array
    {
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = [...explode(':', $line, 2), ''];
            $headers[strtolower($name)] = trim($value);
        }
        preg_match('#^HTTP/\S+ (\d{3})#', $lines[0] ?? '', $found);
        return [(int) ($found[1] ?? 0), $headers];
    }

    /** Comparisons with NAN are false: no limit would ever be reached. */
    private static function checkedSeconds(string $name, float $seconds): float
    {
        if (!($seconds >= 0 && $seconds < 1e11)) {
            throw new \InvalidArgumentException("$name: give a number of seconds, 0 or more");
        }
        return $seconds;
    }

    private static function fraction(): float
    {
        return random_int(0, 1_000_000) / 1_000_000;
    }
}
