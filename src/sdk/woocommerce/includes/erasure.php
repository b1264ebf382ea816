<?php
// Erasure at the service: with the order, and when a customer asks for it. Orders keep template and time of the proof.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\VidimusError;

defined('ABSPATH') || exit;

const ERASE_HOOK = 'vidimus_erase';
const ERASE_TRIES_MAX = 48;
const ORDERS_PER_PAGE = 10;

add_action('woocommerce_before_delete_order', function ($id): void {
    erase_soon(wc_get_order($id));
});

// WooCommerce takes the name off an order, on request or after the time that the shop has set.
add_action('woocommerce_privacy_remove_order_personal_data', function ($order): void {
    erase_soon($order);
    $order->delete_meta_data(ORDER_ID_META);
    $order->save_meta_data();
});

/** Not at once: many orders may be deleted together, and the service may be away. */
function erase_soon($order): void
{
    $session = $order ? (string) $order->get_meta(ORDER_ID_META) : '';
    if ($session !== '') {
        wp_schedule_single_event(time(), ERASE_HOOK, [$session, 1]);
    }
}

add_action(ERASE_HOOK, function (string $session, int $tried): void {
    if (!is_ready() || erase($session) || $tried >= ERASE_TRIES_MAX) {
        return;
    }
    wp_schedule_single_event(time() + HOUR_IN_SECONDS, ERASE_HOOK, [$session, $tried + 1]);
}, 10, 2);

function erase(string $session): bool
{
    try {
        client()->erase($session);
        return true;
    } catch (VidimusError $error) {
        if ($error->errorCode === 'session_not_found') {
            return true;
        }
        log_error($error);
        return false;
    }
}

add_filter('wp_privacy_personal_data_erasers', function (array $erasers): array {
    $erasers['vidimus'] = ['eraser_friendly_name' => 'Vidimus', 'callback' => __NAMESPACE__ . '\erase_customer'];
    return $erasers;
});

/** As WordPress asks for it, page by page. */
function erase_customer(string $email, int $page): array
{
    $user = get_user_by('email', $email);
    $customer = $user ? [$email, (int) $user->ID] : [$email];
    $orders = wc_get_orders(['customer' => $customer, 'limit' => ORDERS_PER_PAGE, 'page' => $page]);
    $removed = $retained = false;
    foreach ($orders as $order) {
        $session = (string) $order->get_meta(ORDER_ID_META);
        if ($session === '') {
            continue;
        }
        if (!is_ready() || !erase($session)) {
            $retained = true;
            continue;
        }
        $order->delete_meta_data(ORDER_ID_META);
        $order->save_meta_data();
        $removed = true;
    }
    return [
        'items_removed' => $removed,
        'items_retained' => $retained,
        'messages' => $retained ? [__('A proof could not be erased at the service. Please try again later.', 'vidimus-for-woocommerce')] : [],
        'done' => count($orders) < ORDERS_PER_PAGE,
    ];
}
