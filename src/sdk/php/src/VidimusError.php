<?php

declare(strict_types=1);

namespace Vidimus;

/**
 * A failed call. Decide by `errorCode`: one of the API, or `no_answer`, `unexpected_answer`, `still_pending`.
 * `maybeDone`: an attempt got no answer or a 5xx, so the service may have done the work all the same.
 */
final class VidimusError extends \RuntimeException
{
    public string $errorCode;
    public ?int $status;
    public ?string $requestId;
    public ?float $retryAfter;
    public bool $maybeDone;

    public function __construct(string $errorCode, string $message, ?int $status = null, bool $maybeDone = false, ?string $requestId = null, ?float $retryAfter = null)
    {
        parent::__construct("$errorCode: $message");
        [$this->errorCode, $this->status, $this->maybeDone] = [$errorCode, $status, $maybeDone];
        [$this->requestId, $this->retryAfter] = [$requestId, $retryAfter];
    }
}
