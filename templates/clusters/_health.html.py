BBBB BBBB BBBBBB
 #
 #

 gettext(u'Choose settings one by one.') 
XXXX XXXXXXXXXXXXXX
  BB BBBBBBBBBBBBBBBBB
    XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXX
        XXX gettext(u'The rules have stopped draining nodes.') XXXX
        XXX
          FFFFFFFFFF
           gettext(u'That many at once are often a false alarm. Check the nodes below. After a reset the limits count from zero.') 
          XXXXX XXXXXXXXXXXXXXFFFXXXXXXX
        XXXX
      XXXXXX
      BB BBBBBBBBB
        XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Reset') XXXXXXXXX
        XXXXXXX
      BBBBB
    XXXXXX
  BBBB BBB BBBBBBBBBBBBBBBB
    XXXXXXXX
       gettext(u"The scheduler of this cluster can't drain nodes, so the rules only warn.") 
    XXXXXXXXX
  BBBB BBB BBBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXXXX
       gettext(u'The rules only warn: they drain no nodes.') 
    XXXXXXXXX
  BBBBB
  XXXXXXXX XXXXXXX pgettext(u'heading', u'Unhealthy nodes') X
           XXXXXXXFFFFFFFFFFFFFFFFX
           XXXXXXXXXX
    BB BBBBBBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Node') XXXXX
              XXXX pgettext(u'column', u'Health') XXXXX
              XXXX pgettext(u'column, why', u'Reason') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Since') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB B BB BBBBBBBBB
              XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXX
                XXXX
                  XXXXXXXX XXXXXXXXXXX XXXXXXXX XX
                XXXXX
                XXX XXXXXXXXXX XXXXX
                    XXXXXXXFFFFFFFFFF FFFFFFFFFFXX
                  FFFFFFFFFF
                  BB BBBBBBBBBXXXXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXXXXBBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXX XXXXXXXXFFFXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      BB BBBBBBBBBBBBBBBBBBBBBBB B BBBBBBBBBBBBBBBB
        XX XXXXXXXXXXX XXXXX XXXXXXX
           pgettext(u'text, clusters', u'first %(n)s of %(all)s') 
            SSSSS SSSSS SS SSSSSSS
          
        XXXX
      BBBBB
    BBBB
      XX XXXXXXXXXXX XXXXX XXXXXXX
        BB BBBBBBBBBBBBBBBBBBB
           gettext(u'No check finds anything. Last checked %(at)s.') 
            SS SSSSS SSSSS SSSSSSSSS SSSS SSSSSSS SSSSSSS
          
        BBBB
           gettext(u'Not checked yet. Checks run every 30 seconds.') 
        BBBBB
      XXXX
    BBBBB
  XXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'heading', u'Limits') XX
    XXXXX XXXXXXXXXXXXXXX
          XXXXXXXXXXXXX
          XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      BBBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'Rules stop and wait for an operator when they want to drain more than this. They keep warning.') 
          SSSSS SSSS SSS SSSS SSS SS SSSSSSSS SSSS SSSS SSSS SS SSSSS SSSS SSSS SSSSS SSSS SSSS SSSSSSSS
        
      XXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXX
               XXXXXXXXX
               BB BBBBBBBBBBBBBBBBXXXXXXXBBBBB
               BB BBB BBBBBBBBBXXXXXXXXBBBBBX
        XXXXXX gettext(u'Rules may drain and quarantine nodes') XXXXXXX
      XXXXXXXX
      XXXX XXXXXXXXXX XXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX gettext(u'Most nodes of the cluster, in %%') XXXXXXX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXX
                 XXXXXXXX
                 BB BBB BBBBBBBBBXXXXXXXXBBBBBX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX gettext(u'Most nodes an hour') XXXXXXX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 BB BBB BBBBBBBBBXXXXXXXXBBBBBX
        XXXXXXXX
      XXXXXX
      BB BBBBBBBBB
        XXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Save limits') XXXXXXXXX
        XXXXXX
      BBBBB
    XXXXXXX
  XXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'heading', u'Rules') XX
    XXXXX XXXXXXXXXXXXXXX
          XXXXXXXXXXXXX
          XXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXXXXXXXX
      BBBBBBBBBB
       gettext(u'How careful are the rules?') 
      BB BBBBBBBBB
        XXXXXXXXXX XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXX XX
      BBBB
        XXXXXXXXXX XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXX
                   XXXXXXXXXXXX XX
      BBBBB
      XXXXXXXXBB BBB BBBBBBBBBBBBB XXXXBBBBBX
        XXXXXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Customize') XXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXX XXXXXXXXXXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Check') XXXXX
                XXXX pgettext(u'column', u'Action') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'From') XXXXX
                XXX XXXXXXXXXXX
                    XXXXXXX gettext(u'How long a condition must last before it counts') XX
                   pgettext(u'column', u'Lasting (min)') 
                XXXXX
                XXX XXXXXXXXXXX
                    XXXXXXX gettext(u'Minutes after the end of the condition; 0: an operator returns the node') XX
                   gettext(u'Returns after (min)') 
                XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBBBB BB BBBBBBBBBBBBB
                XXXX
                  XXX XXXXXXXXXXXXX
                    XXXXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXXXX
                    BB BBBBBBBBBBBBBBBB
                      XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'changed') XXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Action') XX
                    XXXXXXX XXXXXXXXXXXXXX
                            XXXXXXXXXXXXXX
                            XXXXXXXXXXXXFFFFFFFFFFX  pgettext(u'spoken label', u'Action') X
                            BB BBB BBBBBBBBBXXXXXXXXBBBBBX
                      BBB BBBBBB BBBBB BB BBBBBBB
                        XXXXXXX XXXXXXXXBB BBBBB BB BBBBBBBBBBBB XXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
                      BBBBBB
                    XXXXXXXXX
                  XXXXX
                  XXX XXXXXXXXXX XXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'From') XX
                    BB BBBBBBBBBBBBBBBBBBB
                      XXXXXX XXXXXXXXXXXX
                             XXXXXXXXXXXXX
                             XXXXXXXXXX
                             XXXXXXX
                             XXXXXXXXXXXXXXXXX
                             XXXXXXXFFFFFFFFFFFFFFFFFX
                             XXXXXXXXXXXXFFFFFFFFFFX  pgettext(u'spoken label', u'From') X
                             BB BBB BBBBBBBBBXXXXXXXXBBBBBX
                      XXXXX XXXXXXXXXXXX XXXXXXXXXXXXX
                    BBBB
                      XXXXX XXXXXXXXXXXXXXXXXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXX XXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'Lasting (min)') XX
                    XXXXXX XXXXXXXXXXXX
                           XXXXXXXXXXXXX
                           XXXXXXX
                           XXXXXXXXXXXXXXX
                           XXXXXXXX
                           XXXXXXXXXXXXFFFFFFFFFFX  pgettext(u'spoken label', u'Lasting (min)') X
                           BB BBB BBBBBBBBBXXXXXXXXBBBBBX
                  XXXXX
                  XXX XXXXXXXXXX XXXXXXX XXXXXXXXXXXX gettext(u'Returns after (min)') XX
                    XXXXXX XXXXXXXXXXXX
                           XXXXXXXXXXXXX
                           XXXXXXX
                           XXXXXXXXXXXXXXX
                           XXXXXXXX
                           XXXXXXXXXXXXFFFFFFFFFFX  gettext(u'Returns after (min)') X
                           BB BBB BBBBBBBBBXXXXXXXXBBBBBX
                  XXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'Drain: no new jobs until the finding is gone. Quarantine: no new jobs until an operator returns the node. Running jobs continue in both.') 
            SSSSSS SS SSS SSSS SSSSS SSS SSSSSSS SS SSSSS SSSSSSSSSSS SS SSS SSSS SSSSS SS SSSSSSSS SSSSSSS SSS SSSSS
            SSSSSSS SSSS SSSSSSSS SS SSSSS
          
        XXXX
      XXXXXXXXXX
      BB BBBBBBBBB
        XXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Save rules') XXXXXXXXX
        XXXXXX
      BBBBB
    XXXXXXX
  XXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
    XXXXXXX XXXXXXXXXXXX XXXXXXX XXXXXX X XX
    XXXXXXX XXXXXXXXXXXX XXXXXXX XXXXXX  XXXXX XXXXXXXXXXXXXXXXXXXXXXXXX XX
  XXXXXXXXXX
XXXXXX
