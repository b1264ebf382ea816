<?php
// The proof of one cart: a session made for it, and whether its code was redeemed. It is kept apart from the data of the
// WooCommerce session, which requests of a checkout overwrite for each other; that session only has the name of the cart.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\VidimusError;

defined('ABSPATH') || exit;

const SESSION_SECONDS = 1800;
/** A computer may be shared, and a cart lasts for days. */
const PROOF_SECONDS = 3600;

/** @return array{id?: string, confirmed?: int, template?: string, lost?: bool} */
function proof(): array
{
    $proof = get_transient(proof_name());
    return is_array($proof) ? $proof : [];
}

function keep_proof(array $proof): void
{
    set_transient(proof_name(), $proof, SESSION_SECONDS + PROOF_SECONDS);
}

/** A name that nobody can guess; it follows the customer from guest to account. */
function proof_name(): string
{
    $cart = WC()->session->get('vidimus_cart');
    if (!is_string($cart)) {
        $cart = bin2hex(random_bytes(16));
        WC()->session->set('vidimus_cart', $cart);
    }
    return "vidimus_cart_$cart";
}

// A proof is for one cart: the next order needs another.
add_action('woocommerce_cart_emptied', function (): void {
    if (WC()->session && is_string(WC()->session->get('vidimus_cart'))) {
        delete_transient(proof_name());
        WC()->session->set('vidimus_cart', null);
    }
});

function is_confirmed(): bool
{
    $proof = proof();
    // The answer to the redeem call was lost: the webhook says how it ended.
    if (isset($proof['lost']) && get_transient("vidimus_result_{$proof['id']}") === 'yes') {
        $proof = confirm($proof);
    }
    return ($proof['confirmed'] ?? 0) > time() - PROOF_SECONDS;
}

/** The session that waits for this customer's answer; after one that has ended, another. */
function current_session(): string
{
    $proof = proof();
    if (isset($proof['id']) && status_of($proof['id']) === 'pending') {
        return $proof['id'];
    }
    ['id' => $id] = client()->create(request_body(SESSION_SECONDS));
    keep_proof(['id' => $id, 'template' => settings()['template']]);
    return $id;
}

function status_of(string $id): string
{
    try {
        return client()->get($id)['status'];
    } catch (VidimusError $error) {
        // Erased, or made with a key of another shop.
        if ($error->errorCode === 'session_not_found') {
            return 'gone';
        }
        throw $error;
    }
}

/** True if the code belongs to the session of this cart, is used for the first time, and the answer is a yes. */
function redeem(string $code): bool
{
    $proof = proof();
    if (!isset($proof['id'])) {
        return false;
    }
    try {
        $verification = client()->redeem($proof['id'], $code);
    } catch (VidimusError $error) {
        if ($error->maybeDone) {
            keep_proof(['lost' => true] + $proof);
        } elseif (in_array($error->errorCode, ['invalid_response_code', 'invalid_request'], true)) {
            return false;
        }
        throw $error;
    }
    if (!is_yes($verification)) {
        return false;
    }
    confirm($proof);
    return true;
}

function confirm(array $proof): array
{
    unset($proof['lost']);
    $proof['confirmed'] = time();
    keep_proof($proof);
    return $proof;
}

/** The service decides by the template's rules; an age that is denied is a no even in a template without rules. */
function is_yes(array $verification): bool
{
    foreach ($verification['claims'] ?? [] as $name => $value) {
        if (strncmp((string) $name, 'age_over_', 9) === 0 && $value !== true) {
            return false;
        }
    }
    return ($verification['status'] ?? '') === 'completed';
}
