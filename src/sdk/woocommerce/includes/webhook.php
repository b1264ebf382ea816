<?php
// Results by webhook. They settle a proof whose redeem call got no answer; alone they prove nothing for a cart.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\Webhook;
use Vidimus\WebhookError;

defined('ABSPATH') || exit;

const WEBHOOK_BYTES_MAX = 1048576;
const TOLERANCE_SECONDS = 300;

add_action('rest_api_init', function (): void {
    register_rest_route('vidimus/v1', '/webhook', [
        'methods' => 'POST',
        // The signature decides.
        'permission_callback' => '__return_true',
        'callback' => __NAMESPACE__ . '\receive_webhook',
    ]);
});

function receive_webhook(\WP_REST_Request $request): \WP_REST_Response
{
    $secret = settings()['webhook_secret'];
    $body = $request->get_body();
    if ($secret === '' || strlen($body) > WEBHOOK_BYTES_MAX) {
        return new \WP_REST_Response(null, $secret === '' ? 404 : 413);
    }
    $header = (string) $request->get_header('X-Service-Signature');
    try {
        ['verification' => $verification] = Webhook::verify($body, $header, $secret, TOLERANCE_SECONDS);
    } catch (WebhookError $error) {
        return new \WP_REST_Response(null, 400);
    }
    // What was signed, time and body, not the header: that can be written in many ways. The service signs each attempt anew.
    preg_match('/(?:^|,)[ \t]*t=(\d+)/', $header, $time);
    $seen = 'vidimus_seen_' . hash('sha256', "$time[1].$body");
    if (get_transient($seen) !== false) {
        return new \WP_REST_Response(null, 409);
    }
    set_transient($seen, '1', 2 * TOLERANCE_SECONDS);
    set_transient("vidimus_result_{$verification['id']}", is_yes($verification) ? 'yes' : 'no', PROOF_SECONDS);
    return new \WP_REST_Response(null, 204);
}
