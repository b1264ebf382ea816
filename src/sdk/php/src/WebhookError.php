<?php

declare(strict_types=1);

namespace Vidimus;

/**
 * The message must not be trusted: answer with 400. `errorCode` is one of `missing_header`, `malformed_header`,
 * `timestamp_out_of_tolerance`, `no_match`, `invalid_payload`.
 */
final class WebhookError extends \RuntimeException
{
    public string $errorCode;

    public function __construct(string $errorCode, string $message)
    {
        parent::__construct("$errorCode: $message");
        $this->errorCode = $errorCode;
    }
}
