SELECT
    countIf((in_objective_0) AND (is_ok)) AS objective_0_valued,
    countIf((in_objective_0) AND ((is_ok) AND (ifNull(clock_end_to_end > {objective_0_at_most:Int64}, 0)))) AS objective_0_over,
    countIf((in_objective_0) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_0_at_most:Int64}))) AS objective_0_unanswered,
    countIf((in_objective_1) AND ((is_ok OR is_failed OR is_aborted) AND (clock_queue IS NOT NULL))) AS objective_1_valued,
    countIf((in_objective_1) AND ((is_ok OR is_failed OR is_aborted) AND (ifNull(clock_queue > {objective_1_at_most:Int64}, 0)))) AS objective_1_over,
    countIf((in_objective_1) AND ((is_ok OR is_failed OR is_aborted) AND (clock_queue IS NULL))) AS objective_1_unknown,
    countIf((in_objective_2) AND ((is_ok) AND (clock_inference IS NOT NULL))) AS objective_2_valued,
    countIf((in_objective_2) AND ((is_ok) AND (ifNull(clock_inference > {objective_2_at_most:Int64}, 0)))) AS objective_2_over,
    countIf((in_objective_2) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_2_at_most:Int64}))) AS objective_2_unanswered,
    countIf((in_objective_2) AND ((is_ok) AND (clock_inference IS NULL))) AS objective_2_unknown,
    countIf((in_objective_3) AND (is_good OR is_bad)) AS objective_3_valued,
    countIf((in_objective_3) AND (is_bad)) AS objective_3_over
FROM
(
SELECT * FROM rows
)

/* {
 "objective_0_at_most": 2000000,
 "objective_1_at_most": 2000000,
 "objective_2_at_most": 2000000
} */
