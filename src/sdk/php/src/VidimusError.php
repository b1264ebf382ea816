<?php

declare(strict_types=1);

namespace Vidimus;

/**
 * A failed call. Decide by `errorCode`: one of the API, or `no_answer`, `unexpected_answer`, `still_pending`.
 * `maybeDone`: an attempt got no answer or a 5xx, so the service may have done the work all the same.
 */
final class VidimusError extends \RuntimeException
{
    public function __construct(
        public readonly string $errorCode,
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $requestId = null,
        public readonly ?float $retryAfter = null,
        public bool $maybeDone = false,
    ) {
        parent::__construct("$errorCode: $message");
    }
}
