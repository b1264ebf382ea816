<?php
// Settings, and the client they make. Key and secret are stored, and never shown again.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\Vidimus;
use Vidimus\VidimusError;

defined('ABSPATH') || exit;

const OPTION = 'vidimus_settings';
/** For one attempt; the client tries four times at most. */
const CALL_SECONDS = 5.0;

/** @return array{url: string, api_key: string, webhook_secret: string, template: string, categories: list<int>} */
function settings(): array
{
    $stored = get_option(OPTION, []);
    $defaults = ['url' => '', 'api_key' => '', 'webhook_secret' => '', 'template' => 'age_over_18', 'categories' => []];
    return array_merge($defaults, is_array($stored) ? $stored : []);
}

function is_ready(): bool
{
    ['url' => $url, 'api_key' => $key] = settings();
    return $url !== '' && $key !== '';
}

function is_test(): bool
{
    return strncmp(settings()['api_key'], 'vk_test_', 8) === 0;
}

function client(): Vidimus
{
    ['url' => $url, 'api_key' => $key] = settings();
    return new Vidimus($url, $key, CALL_SECONDS);
}

/** The body of a new session, for the checkout and for the test of the settings. */
function request_body(int $seconds): array
{
    ['template' => $template, 'webhook_secret' => $secret] = settings();
    $body = ['template' => $template, 'ttl_seconds' => $seconds, 'redirect_url' => wc_get_checkout_url()];
    return $secret === '' ? $body : $body + ['webhook_url' => rest_url('vidimus/v1/webhook')];
}

/** The origin that wallets show, and that must be listed at the service. */
function shop_origin(): string
{
    $parts = wp_parse_url(home_url());
    return $parts['scheme'] . '://' . $parts['host'] . (isset($parts['port']) ? ':' . $parts['port'] : '');
}

/** Codes and request ids only: no key, no id of a session. */
function log_error(VidimusError $error): void
{
    wc_get_logger()->error(trim("$error->errorCode $error->requestId"), ['source' => 'vidimus']);
}
