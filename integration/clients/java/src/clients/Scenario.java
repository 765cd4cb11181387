package clients;

/** Something that a lock is asked to do. */
record Scenario(String name, Body body) {
    interface Body {
        void run(Stage stage) throws Exception;
    }
}
