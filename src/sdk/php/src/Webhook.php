<?php

declare(strict_types=1);

namespace Vidimus;

final class Webhook
{
    /**
     * Checks a webhook and returns its event. `payload` is the raw body (`file_get_contents('php://input')`), `header` the
     * value of X-Service-Signature, `secret` the whole `whsec_…` text, or several while you replace one. Compare
     * `verification.id` with the session that you created: its metadata proves nothing.
     *
     * @param string|list<string> $secret
     * @return array{type: 'verification.completed'|'verification.failed', verification: array<string, mixed>, sent_at: string}
     */
    public static function verify(
        string $payload,
        ?string $header,
        // A comment to PHP 7.4, which has no attributes.
        #[\SensitiveParameter]
        $secret,
        float $tolerance = 300,
        ?int $now = null
    ): array {
        $secrets = (array) $secret;
        // An empty or cut secret must fail here: anybody could sign with it.
        if ($secrets === [] || preg_grep('#^whsec_[A-Za-z0-9+/]{32,88}={0,2}$#D', $secrets) !== $secrets) {
            throw new \InvalidArgumentException('secret: give the whole webhook secret, whsec_ and what follows');
        }
        // Compared with NAN, no message is too old.
        if (!($tolerance >= 0 && $tolerance < 1e11)) {
            throw new \InvalidArgumentException('tolerance: give a number of seconds, 0 or more');
        }
        if ($header === null || $header === '') {
            throw new WebhookError('missing_header', 'The message has no X-Service-Signature header.');
        }
        $parts = strlen($header) > 2048 ? [] : array_map(fn(string $part) => trim($part, " \t"), explode(',', $header));
        $times = self::valuesOf($parts, 't=');
        $candidates = self::valuesOf($parts, 'v1=');
        $isWhole = count($times) === 1 && preg_match('/^[0-9]{1,12}$/D', $times[0]);
        if (!$isWhole || $candidates === [] || count($candidates) > 16) {
            throw new WebhookError('malformed_header', 'The X-Service-Signature header is not t=…,v1=….');
        }
        if (abs(($now ?? time()) - (int) $times[0]) > $tolerance) {
            throw new WebhookError('timestamp_out_of_tolerance', "The message was signed more than $tolerance seconds from now.");
        }
        // Every candidate is compared with every secret, also after a match.
        $matches = 0;
        foreach ($secrets as $each) {
            $mac = hash_hmac('sha256', "$times[0].$payload", $each);
            foreach ($candidates as $candidate) {
                $matches += (int) hash_equals($mac, $candidate);
            }
        }
        if ($matches === 0) {
            throw new WebhookError('no_match', 'No signature matches: the body was changed, or the secret is another one.');
        }
        $event = json_decode($payload, true);
        if (!is_array($event)) {
            throw new WebhookError('invalid_payload', 'The message is genuine, but not JSON.');
        }
        $isKnown = in_array($event['type'] ?? null, ['verification.completed', 'verification.failed'], true);
        if ($isKnown && is_string($event['verification']['id'] ?? null) && is_string($event['sent_at'] ?? null)) {
            return $event;
        }
        throw new WebhookError('invalid_payload', 'The message is genuine, but not an event that this version knows.');
    }

    /** @param list<string> $parts */
    private static function valuesOf(array $parts, string $name): array
    {
        $named = array_filter($parts, fn(string $part) => strncmp($part, $name, strlen($name)) === 0);
        return array_map(fn(string $part) => substr($part, strlen($name)), array_values($named));
    }
}
