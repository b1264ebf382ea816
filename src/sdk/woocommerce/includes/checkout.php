<?php
// The checkout: the element on the page, the two calls of its script, and the refusal of orders without a proof.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\VidimusError;

defined('ABSPATH') || exit;

/** WooCommerce ties nonces with this beginning to the session of a guest. */
const NONCE = 'woocommerce-vidimus';
const ORDER_ID_META = '_vidimus_id';
const ORDER_PROOF_META = '_vidimus_confirmed';

// The classic checkout. WooCommerce does not redraw this part of its form.
add_action('woocommerce_checkout_after_customer_details', function (): void {
    echo proof_box(); // phpcs:ignore WordPress.Security.EscapeOutput.OutputNotEscaped
});

// The block checkout. Its form is drawn by scripts, so the box stands above it.
add_filter('render_block_woocommerce/checkout', function ($html): string {
    return proof_box() . $html;
});

function proof_box(): string
{
    if (!cart_needs_proof()) {
        return '';
    }
    // No heading: themes differ in the level that would be right.
    $title = '<p><strong>' . esc_html__('Proof by wallet', 'vidimus-for-woocommerce') . '</strong></p>';
    $words = [
        'confirmed' => __('Your proof is confirmed.', 'vidimus-for-woocommerce'),
        'refused' => __('Nothing was verified.', 'vidimus-for-woocommerce'),
        'expired' => __('This request has expired. Nothing was shared.', 'vidimus-for-woocommerce'),
        'elsewhere' => __('You answered in another window. This page continues as soon as that window is back in the shop.', 'vidimus-for-woocommerce'),
        'unavailable' => unavailable(),
    ];
    if (!is_ready()) {
        return "<div class=\"vidimus-proof\">$title<p>" . esc_html(unavailable()) . '</p></div>';
    }
    if (is_confirmed()) {
        return "<div class=\"vidimus-proof\">$title<p>" . esc_html($words['confirmed']) . '</p></div>';
    }
    wp_enqueue_script_module('vidimus-verify', settings()['url'] . '/verify.js', [], null);
    wp_enqueue_script_module('vidimus-checkout', plugins_url('checkout.js', PLUGIN_FILE), [], null);
    // Attributes instead of an inline script: shops may forbid those.
    $data = [
        'session' => \WC_AJAX::get_endpoint('vidimus_session'),
        'redeem' => \WC_AJAX::get_endpoint('vidimus_redeem'),
        'nonce' => wp_create_nonce(NONCE),
        'words' => wp_json_encode($words),
    ];
    $attributes = '';
    foreach ($data as $name => $value) {
        $attributes .= " data-$name=\"" . esc_attr($value) . '"';
    }
    return "<div class=\"vidimus-proof\"$attributes>$title<p>"
        . esc_html__('Your cart has a product that needs a proof from your identity wallet, for example of your age.', 'vidimus-for-woocommerce')
        . '</p><vidimus-verify base="' . esc_url(settings()['url']) . '"' . (is_test() ? ' sandbox' : '') . '></vidimus-verify>'
        . '<p role="status"></p><button type="button" class="button" hidden>' . esc_html__('Try again', 'vidimus-for-woocommerce') . '</button></div>';
}

function unavailable(): string
{
    return __('The proof cannot be asked for right now. Please try again in a few minutes.', 'vidimus-for-woocommerce');
}

add_action('wc_ajax_vidimus_session', function (): void {
    answer_call(function (): array {
        return is_confirmed() ? ['confirmed' => true] : ['session' => current_session()];
    });
});

add_action('wc_ajax_vidimus_redeem', function (): void {
    answer_call(function (): array {
        $code = isset($_POST['response_code']) && is_string($_POST['response_code']) ? wp_unslash($_POST['response_code']) : ''; // phpcs:ignore WordPress.Security
        return ['confirmed' => redeem(substr($code, 0, 200))];
    });
});

/** Ends the request with JSON. */
function answer_call(callable $call): void
{
    check_ajax_referer(NONCE, 'nonce');
    if (!is_ready() || !cart_needs_proof()) {
        wp_send_json_error(null, 409);
    }
    try {
        wp_send_json_success($call());
    } catch (VidimusError $error) {
        log_error($error);
        wp_send_json_error(null, 503);
    }
}

function refusal(): ?string
{
    if (!cart_needs_proof() || is_confirmed()) {
        return null;
    }
    return is_ready() ? __('Please confirm the proof with your wallet before you place the order.', 'vidimus-for-woocommerce') : unavailable();
}

add_action('woocommerce_after_checkout_validation', function ($data, $errors): void {
    $refusal = refusal();
    if ($refusal !== null) {
        $errors->add('vidimus', $refusal);
    }
}, 10, 2);

// Gateways with buttons of their own skip the validation above, and come here all the same.
add_action('woocommerce_checkout_create_order', function ($order): void {
    $refusal = refusal();
    if ($refusal !== null) {
        throw new \Exception(esc_html($refusal));
    }
    attach_proof($order);
});

// The block checkout. WooCommerce saves the order after this; drafts are changed by PUT, and need no proof yet.
add_action('woocommerce_store_api_checkout_update_order_from_request', function ($order, $request): void {
    if ($request->get_method() !== 'POST') {
        return;
    }
    $refusal = refusal();
    if ($refusal !== null) {
        throw new \Automattic\WooCommerce\StoreApi\Exceptions\RouteException('vidimus_proof_missing', esc_html($refusal), 403);
    }
    attach_proof($order);
}, 10, 2);

function attach_proof($order): void
{
    $proof = proof();
    if (cart_needs_proof() && isset($proof['id'], $proof['confirmed'])) {
        $order->update_meta_data(ORDER_ID_META, $proof['id']);
        $order->update_meta_data(ORDER_PROOF_META, $proof['template'] . ' ' . gmdate('Y-m-d\TH:i:s\Z', $proof['confirmed']));
    }
}

add_action('woocommerce_admin_order_data_after_order_details', function ($order): void {
    $proof = (string) $order->get_meta(ORDER_PROOF_META);
    if ($proof !== '') {
        echo '<p class="form-field form-field-wide">' . esc_html__('Proof by wallet', 'vidimus-for-woocommerce') . ': ' . esc_html($proof) . '</p>';
    }
});
