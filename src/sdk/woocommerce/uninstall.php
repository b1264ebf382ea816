<?php
// Settings and marks of products. Orders keep the record of their proof.

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('vidimus_settings');
delete_post_meta_by_key('_vidimus_needs_proof');
wp_unschedule_hook('vidimus_erase');
