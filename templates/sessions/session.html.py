BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXX XXXXXX
       XXXXXXXXXXXX
       XXXXXXXXXXXXXXXX
       XXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFFFX
       XXXXXXXXXXXXFFFFFFFFFFFFFFFFFFXX
    XXXX XXXXXXXXXXXXXXXX XXXXXXXXXX
      XXXX XXXXXXXXXXXXX
        XXXX XXXXXXXXXX XXXXXXXXXXX
          XXXXXXXX XXXXXXXXXXXX XXXXXXXX XXXXXXXXXXX XX
          XXX XXXXXXXXXXXXXXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
        XXXXXX
        XXXX XXXXXXXXXX XXXXXXXXX
          XXXXXXFFFFFFFFFFXXXXXXX
          XXXXXXXXXXXXX
          XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBB
            XXXXXX
               pgettext(u'text, jobs', u'ran %(time)s') 
                SSS SSSSSSSS
              
            XXXXXXX
          BBBB BBBBBBBBBBBBBB
            XXXXXX
               pgettext(u'text, jobs', u'%(time)s elapsed') 
                SSSSSSSS SSSSSSS
              
            XXXXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBXXXXXXFFFXXXXXXXBBBBB
        XXXXXX
      XXXXXX
      XXXX XXXXXXXXXXXXXXXX
        BB BBB BBBBBBBB
          BB BBBBBBBBBB BBB BBBBBBBBB
            XXXXX XXXXXXXXXXXXX
                  XXXXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBX
                  XXXXXXXXXX pgettext(u'button', u'Restart session') X
                  XXXXXXXXX pgettext(u'button', u'Keep session') X
                  XXXXXXXXXXXXXX pgettext(u'question', u'Restart %(name)s? What is not saved in a workspace is lost.') 
                    SSSSSSS SSSSSSSSS SSSS SS SSS SSSSS SS S SSSSSSSSS SS SSSSS
                  XX
              BBBBBBBBBB
              XXXXXXX XXXXXXXXXXXX pgettext(u'button, session', u'Restart') XXXXXXXXX
            XXXXXXX
          BBBBB
          BB BBBBBBBBBB
            XXXXX XXXXXXXXXXXXX
                  XXXXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBX
                  XXXXXXXXXX pgettext(u'button', u'Stop session') X
                  XXXXXXXXX pgettext(u'button', u'Keep session') X
                  XXXXXXXXXXXXXX pgettext(u'question', u'Stop %(name)s? What is not saved in a workspace is lost.') 
                    SSSS SSSSSSSSS SSSS SS SSS SSSSS SS S SSSSSSSSS SS SSSSS
                  XX
              BBBBBBBBBB
              XXXXXXX XXXXXXXXXX XXXXXXX
                      BB BBBBBBBBBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBX
                 pgettext(u'button, session', u'Stop') 
              XXXXXXXXX
            XXXXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBB
            BB BBBBBBBBBBBBB BB BBBBBBB
              XX XXXXXXXXXX XXXXXXXX
                 XXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 pgettext(u'button', u'Open') 
                XXXXXXX XXXXXXXXXXXXXXX XX
              XXXX
            BBBB
              XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Open') XXXXXXXXX
            BBBBB
          BBBBB
        BBBB BBBBBBBBB
          BB BBBBBBBBBBBBBBBBBBBBB
            BBBBB BBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BB BBBBBBBBBB
            XX XXXXXXXXXX XXXXXXXX
               XXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBBXX pgettext(u'button', u'Use this image') XXXX
          BBBBB
          BB BBBBBBBBBB
            XXXXX XXXXXXXXXXXXX
                  XXXXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBXX
              BBBBBBBBBB
              XXXXXXX XXXXXXXXXXBB BBB BBBBBBBBBBBBBBBBBBBBB XXXXXXXBBBBBXX
                 pgettext(u'button', u'Start again') 
              XXXXXXXXX
            XXXXXXX
          BBBBB
          XX XXXXXXXXXXX
             XXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBBXXXXXXXX pgettext(u'button', u'Start another like this') XXXX
        BBBBB
      XXXXXX
    XXXXXX
    BB BBBBB
      XXX XXXXXXXXXXXXXX
          XXXXXXXXXXXX pgettext(u'spoken label', u'Progress') XX
        BBB BBBB BB BBBBB
          XXX XXXXXXXBB BBBBBBBBBBBBXXXXXXXBBBB BBB BBBBBBBBBBBXXXXXXXXXBBBBBXX
            XXXXXXX XXXXXXXBB BBBBBBBBBBBBBBB BBBBBBBBBBBBXXXXXXXBBBBXXXXXXBBBBBXXXXXFFFFFFFFFFXXXXXXXXXXXXX
          XXXXX
        BBBBBB
      XXXXX
    BBBBB
    BB BBBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXX XXXXXXXX XXXXXXXXXXXX
        XXX
          XXXXXXXXFFFFFFFFFFFFFFXXXXXXXXX
        XXXX
        BB BBBBBBBBBBBBBBBBBBBXXXFFFFFFFFFFFFFFXXXXBBBBB
      XXXXXX
    BBBB BBBBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX BB BBBBBBBBBBBBB BB BBBBBBBXXXXBBBB BBBBBBBBBBBBBBBBBBBBBBBBBXXXXBBBBB XXXXXXXX
           XXXXXXXXXXXXXX
        XXX
          XXXXXXXXFFFFFFFFFFFFFFXXXXXXXXX
          BB BBBBBBBBBBBBB BB BBBBBBB BBB BBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBBBBB
            XXXXX XXXXXXXXXXXXXX
               pgettext(u'text, sessions', u'It stops %(limit)s after its start.') 
                SS SSSSS SSSSSSSSS SSSSS SSS SSSSSS
              
            XXXXXXX
          BBBBB
        XXXX
        BB BBBBBBBBBBBBBBBBBBBBBBBBB
          XXXBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBXXXX
        BBBBB
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXXXX XXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Log') X
                 XXXXXXXXX
                 XXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXXXXXX
            XX XXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Open log') XXXX
          XXXXXXXXX
          BB BBBB
            XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX gettext(u'Last lines of the log') XXBBB BBBB BB BBBB
BBBBBB
XXXXXX
          BBBB
            XX XXXXXXXXXXXXXXXXX XXXXXXX
              BB BBBBBBBB
                 gettext(u'The app wrote nothing.') 
              BBBB BBBBBBBBBBBBB BB BBBBBBBB
                 gettext(u'The log appears here when the session starts.') 
              BBBB
                 gettext(u'No output yet.') 
              BBBBB
            XXXX
          BBBBB
        XXXXXXXXXX
        BB BBB BBBBBBBB
          BB BBBBBBBBBBBBBBBB BB BBBBBBBBBB
            XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
              BB BBBBBBBBBBBBBBBB
                XXXXXXXX
                  XXXXXX XXXXXXX XXXX 
                XXXXXXXXX
                XXXXXXXX
                  XXXXXX XXXXXXXXXXXX  XXX XXXXXXX XXXX
                XXXXXXXXX
              BBBBB
              BB BBBBBBBBBB
                XXXXXXXX
                  XXXXXX XXXXXXX XXXX 
                XXXXXXXXX
              BBBBB
            XXXXXXXXXX
          BBBBB
        BBBBB
      XXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
          XXX XXXXXXXXXXXXXX
            BB BBBBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'GPUs') XXXXX
              XXXX
                 X FFFFFFFFFFFFFFFFFFFFF
              XXXXX
            BBBBB
            XXXX pgettext(u'name of a value', u'CPU') XXXXX
            XXXX
              FFFFFFFFFFFFFF
            XXXXX
            XXXX pgettext(u'name of a value', u'Memory') XXXXX
            XXXX
              FFFF
            XXXXX
            BB BBBBBBBBBBBBB
              XXXX pgettext(u'name of a value, container image', u'Image') XXXXX
              XXX XXXXXXXXXXX XXXXXXX
                
              XXXXX
            BBBBB
            BB BBBBBBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Data') XXXXX
              XXXX
                
                XXXX
                XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXXXX
            BBBBB
            BB BBBBBBBBBBBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Workspace') XXXXX
              XXXX
                XX XXXXXXBBB BBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBXXXXXX
              XXXXX
            BBBBB
            BB BBBBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Time limit') XXXXX
              XXXX
                
              XXXXX
            BBBBB
            BB BBBBBBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Last used') XXXXX
              XXXX
                FFF
              XXXXX
            BBBBB
            XXXX pgettext(u'name of a value', u'Cluster') XXXXX
            XXXX
              
            XXXXX
            BB BBBBBBBBB
              XXXX pgettext(u'name of a value', u'Node') XXXXX
              XXXX
                XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXXXX
            BBBBB
            XXXX pgettext(u'name of a value', u'Job') XXXXX
            XXXX
              XX XXXXXXXXXXXXXXXXXXXX
            XXXXX
            XXXX pgettext(u'name of a value', u'Template') XXXXX
            XXXX
               pgettext(u'value', u'%(name)s, version %(version)s') 
                SSSSSSSSS SSSSSSS SSSSSSSSSSS
              
            XXXXX
          XXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Events') XX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBB
        XXXXXXXXXX
      XXXXXX
    XXXXXX
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
