<?php
/**
 * Plugin Name: Vidimus for WooCommerce
 * Description: Asks customers for a proof from their identity wallet at the checkout, such as an age, before certain products are sold.
 * Version: 0.0.0
 * Requires at least: 6.5
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * License: Apache-2.0
 * License URI: https://www.apache.org/licenses/LICENSE-2.0
 * Text Domain: vidimus-for-woocommerce
 * Domain Path: /languages
 */

declare(strict_types=1);

namespace Vidimus\WooCommerce;

defined('ABSPATH') || exit;

const PLUGIN_FILE = __FILE__;

// The client is copied here from src/sdk/php by scripts/build/shops.ts.
foreach (['VidimusError', 'Vidimus', 'WebhookError', 'Webhook'] as $name) {
    require_once __DIR__ . "/client/$name.php";
}
foreach (['settings', 'products', 'proof', 'checkout', 'webhook', 'erasure'] as $name) {
    require_once __DIR__ . "/includes/$name.php";
}
if (is_admin()) {
    require_once __DIR__ . '/includes/settings-page.php';
}

add_action('init', function (): void {
    load_plugin_textdomain('vidimus-for-woocommerce', false, dirname(plugin_basename(PLUGIN_FILE)) . '/languages');
});

add_action('before_woocommerce_init', function (): void {
    if (class_exists('\Automattic\WooCommerce\Utilities\FeaturesUtil')) {
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('custom_order_tables', PLUGIN_FILE, true);
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('cart_checkout_blocks', PLUGIN_FILE, true);
    }
});
