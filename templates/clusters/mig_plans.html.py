BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'Partition GPUs into MIG instances, or make them full GPUs again. A plan shows every change before it is applied.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'GPU partitioning') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBB BBB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New plan') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXX XXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Cluster') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs with MIG') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Partitioned') XXXXX
              XXXX pgettext(u'column', u'Instances') XXXXX
              XXXX pgettext(u'column', u'Method') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBBBBBB
              XXXX
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'GPUs with MIG') XXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Partitioned') XXFFFFFFFFFFFFFFFFXXXXX
                XXXX
                  BBB BBBBB B BB BBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXXFFFFFFFFFFFFFFFF X XXXXXXX
                  BBBBB
                    XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'none') XXXXXXX
                  BBBBBB
                XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Method') XXFFFFFFFFFFXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      BB BBBBB
        XXXX pgettext(u'heading', u'Plans') XXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXX XXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Plan') XXXXX
                XXXX pgettext(u'column', u'State') XXXXX
                XXXX pgettext(u'column', u'Cluster') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Nodes') XXXXX
                XXXX pgettext(u'column', u'By') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Created') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBBBB BBBBB BB BBBBB
                XXXX
                  XXX XXXXXXXXXXXXX
                    XX XXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFXXXXXXXX
                  XXXXX
                  XXXX
                    XXXXXXXX XXXXXXXXXXXXX XXXXXXXX XX
                  XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Cluster') XXXXXXX
                  XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Nodes') XXFFFFFFXXXXX
                  XXX XXXXXXXXXXXXXFFFFFFFFFFFFFFFFFFFFFFFXXXXX
                  XXX XXXXXXXXXX XXXXXXXXFFFXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No plans yet') X
                 XXXXXXXXXXXXXXX XXX XXXX  XXXXXX XXXXXXXXXXXX
           gettext(u'Say which instances or full GPUs you need. The plan changes as few GPUs and drains as few nodes as possible.') 
          XXXXXXX XXXXXXXXXXXXXXX
            BB BBBBBBBBB
              XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New plan') X XX
            BBBBB
          XXXXXXXXX
        XXXXXXXXXX
      BBBBB
    BBBB
      XXXXXXXX XXXXXXX gettext(u'No GPUs with MIG yet') X
               XXXXXXXXXXXXXXXXXXXXX XXX XXXXXXXXXXXXX
         gettext(u'GPUs that can be partitioned (A30, A100, H100, H200, B200) appear once the agent of their node reports them.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBB BBB BBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'New plan') X
                   XXXXXXXX pgettext(u'button', u'Show plan') XX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Cluster') XX
        XXXXXXX XXXXXXXXXXXXXXX
          BBB BBB BB BBBBBBBB
            XXXXXXX XXXXXXXX
                    BB BBBBBBBBBBBBBBBB BB BBBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXX XXXXXXX gettext(u'How many the cluster should have, at least') XXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          BBB BBB BB BBBBBB
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX
                BB BBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXX
                BBBB
                   pgettext(u'field, of GPUs without MIG', u'Full GPUs') 
                BBBBB
              XXXXXXX
              XXXXXX XXXXXXXXXXXXX
                     XXXXXXX
                     XXXXXXX
                     XXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXX
              BB BBBBBBBBBBBBBBB BB B
                XXXXXXX
                   pgettext(u'number of MIG instances', u'%(n)s now') 
                    SSSSS SSS
                  
                XXXXXXXX
              BBBBB
            XXXXXXXX
          BBBBBB
        XXXXXX
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'3g.40gb is 3 of the 7 parts of a GPU with 40 GB of its memory. Empty fields are not part of the plan.') 
        XXXX
      XXXXXXXXXXX
      XXXXXXXX BB BBBBBBBBBBBXXXXBBBBBX
        XXXXXXXXX gettext(u'Only on some nodes') XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Nodes') X
                 XXXXXX gettext(u'Names with commas. Empty: any node of the cluster') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXXXX
      XXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u'Planning changes nothing: you see the plan first.') XXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
